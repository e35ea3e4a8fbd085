import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@vat/domain';
import type { RateDecision } from '@vat/queues';
import type { RequestHandler, Response } from 'express';
import { callerOf, contextOf } from '../http/call.js';

/** A limit on calls in any second. `judge` counts the calls of each name apart, over every API process. */
export type CallRate = { calls: number; judge: (name: string) => Promise<RateDecision> };

export type LimitKeyRateDeps = { keyRate: CallRate };
export type LimitUserRateDeps = { userRate: CallRate };

/** `nameOf`: what the calls are counted by; those without a name are not limited. `where` completes the message. */
const limitRate =
  ({ calls, judge }: CallRate, nameOf: (res: Response) => string | null, where: string): RequestHandler =>
  async (_req, res, next) => {
    const name = nameOf(res);
    if (name === null) return next();
    const decision = await judge(name);
    res.setHeader('RateLimit-Limit', String(calls));
    res.setHeader('RateLimit-Remaining', String(decision.remaining));
    res.setHeader('RateLimit-Reset', '1');
    res.setHeader('RateLimit-Policy', `${calls};w=1`);
    if (!decision.admitted) {
      throw new AppError('RATE_LIMITED', {
        message: `More than ${calls} calls in one second ${where}.`,
        // Whole seconds, as its header cannot say less.
        extra: { retry_after: Math.max(1, Math.ceil(decision.waitMs / 1_000)) },
      });
    }
    // A call a few milliseconds early is held, not refused: see RateLimit.holdMs.
    if (decision.waitMs > 0) await pause(decision.waitMs);
    next();
  };

/** Limits the calls of one key in any second; throws RATE_LIMITED with `retry_after`. Runs after `authenticate`. */
export const limitKeyRate = ({ keyRate }: LimitKeyRateDeps): RequestHandler =>
  limitRate(keyRate, (res) => callerOf(res).keyId, 'with this key');

/**
 * Limits the calls of one dashboard user in any second, over all of the user's sessions; throws RATE_LIMITED with
 * `retry_after`. Runs after the session was looked up; a call without one passes. Source: contract part 3 §1.
 */
export const limitUserRate = ({ userRate }: LimitUserRateDeps): RequestHandler =>
  limitRate(
    userRate,
    (res) => {
      const { session } = contextOf(res);
      return session ? `user:${session.userId}` : null;
    },
    'in this session',
  );
