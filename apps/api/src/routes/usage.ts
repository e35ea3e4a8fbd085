import { presentUsage } from '@vat/contracts';
import { periodOf } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';

export type UsageDeps = {
  findUsage: (accountId: string, period: string) => Promise<{ used: number; reserved: number }>;
  now: () => Date;
};

/** GET /v1/usage: the current UTC month. */
export const showUsage =
  ({ findUsage, now }: UsageDeps): RequestHandler =>
  async (_req, res) => {
    const { accountId, plan, quota } = callerOf(res);
    const period = periodOf(now());
    res.json(presentUsage({ period, plan, limit: quota, ...(await findUsage(accountId, period)) }));
  };
