import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@vat/domain';
import type { RateDecision } from '@vat/queues';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';

export type LimitRateDeps = {
  judgeRate: (keyId: string) => Promise<RateDecision>;
  /** Calls a second and key. */
  rateLimit: number;
};

/** At most so many calls of one key in any second; throws RATE_LIMITED with `retry_after`. Runs after `authenticate`. */
export const limitRate =
  ({ judgeRate, rateLimit }: LimitRateDeps): RequestHandler =>
  async (_req, res, next) => {
    const decision = await judgeRate(callerOf(res).keyId);
    res.setHeader('RateLimit-Limit', String(rateLimit));
    res.setHeader('RateLimit-Remaining', String(decision.remaining));
    res.setHeader('RateLimit-Reset', '1');
    res.setHeader('RateLimit-Policy', `${rateLimit};w=1`);
    if (!decision.admitted) {
      throw new AppError('RATE_LIMITED', {
        message: `More than ${rateLimit} calls in one second with this key.`,
        // Whole seconds, as its header cannot say less.
        extra: { retry_after: Math.max(1, Math.ceil(decision.waitMs / 1_000)) },
      });
    }
    // A call a few milliseconds early is held, not refused: see RateLimit.holdMs.
    if (decision.waitMs > 0) await pause(decision.waitMs);
    next();
  };
