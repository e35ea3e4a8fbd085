import { presentCheck, presentRequest, presentUsage } from '@vat/contracts';
import { AppError, type FindEvidence, type FindRequest, periodOf } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf, ownedId, readerOf } from '../http/call.js';

export type RequestDeps = { findRequest: FindRequest; findEvidence: FindEvidence };

/** GET /v1/requests/{id}. A withdrawn request was refused to its caller, so there is nothing to read. */
export const showRequest =
  ({ findRequest, findEvidence }: RequestDeps): RequestHandler =>
  async (req, res) => {
    const found = await findRequest(ownedId('request', req.params.id), readerOf(res));
    if (!found || found.request.state === 'withdrawn') throw new AppError('NOT_FOUND');
    const { request, check } = found;
    const shown = check && presentCheck(check, (await findEvidence([check.id])).get(check.id));
    res.json(presentRequest(request, shown));
  };

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
