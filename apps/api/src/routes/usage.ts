import { presentUsage } from '@vat/contracts';
import { periodOf } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';

export type UsageDeps = {
  findUsage: (accountId: string, period: string) => Promise<{ used: number; reserved: number }>;
  now: () => Date;
};

const NOTHING = { used: 0, reserved: 0 };

/** GET /v1/usage: the current UTC month. A test key reads what test calls have used of it, which is nothing. */
export const showUsage =
  ({ findUsage, now }: UsageDeps): RequestHandler =>
  async (_req, res) => {
    const { accountId, plan, quota, test } = callerOf(res);
    const period = periodOf(now());
    const units = test ? NOTHING : await findUsage(accountId, period);
    res.json(presentUsage({ period, plan, limit: quota, ...units }));
  };
