import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@vat/domain';
import type { RateDecision } from '@vat/queues';
import type { RequestHandler, Response } from 'express';
import { callerOf, contextOf } from '../http/call.js';
import { networkOf } from '../http/client-network.js';

/** A limit of calls per second. `count` counts the calls of each name separately, over all API processes. */
export type CallRate = { calls: number; count: (name: string) => Promise<RateDecision> };

export type LimitKeyRateDeps = { keyRate: CallRate };
export type LimitUserRateDeps = { userRate: CallRate };
export type LimitNetworkRateDeps = { networkRate: CallRate };

/** `nameOf` returns the name under which a call is counted; a call without a name is not limited. `where` completes the message. */
const limitRate =
  ({ calls, count }: CallRate, nameOf: (res: Response) => string | null, where: string): RequestHandler =>
  async (_req, res, next) => {
    const name = nameOf(res);
    if (name === null) return next();
    const decision = await count(name);
    res.setHeader('RateLimit-Limit', String(calls));
    res.setHeader('RateLimit-Remaining', String(decision.remaining));
    res.setHeader('RateLimit-Reset', '1');
    res.setHeader('RateLimit-Policy', `${calls};w=1`);
    if (!decision.admitted) {
      throw new AppError('RATE_LIMITED', {
        message: `More than ${calls} calls in one second ${where}.`,
        // Retry-After has whole seconds.
        extra: { retry_after: Math.max(1, Math.ceil(decision.waitMs / 1_000)) },
      });
    }
    // A call that is a few milliseconds early is delayed instead of refused, see RateLimit.holdMs.
    if (decision.waitMs > 0) await pause(decision.waitMs);
    next();
  };

/** Limits the calls per second of a key. Throws RATE_LIMITED with `retry_after`. Runs after `authenticate`. */
export const limitKeyRate = ({ keyRate }: LimitKeyRateDeps): RequestHandler =>
  limitRate(keyRate, (res) => callerOf(res).keyId, 'with this key');

/**
 * Limits the calls per second of a dashboard user over all of the user's sessions. Throws RATE_LIMITED with `retry_after`. Runs
 * after the session was looked up; a call without a session passes.
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

/** Limits the calls per second of a network that needs no key. Throws RATE_LIMITED with `retry_after`. */
export const limitNetworkRate = ({ networkRate }: LimitNetworkRateDeps): RequestHandler =>
  limitRate(networkRate, (res) => `network:${networkOf(res.req.ip ?? '')}`, 'from this network');
