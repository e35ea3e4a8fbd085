import { REPEAT_WARNING_MS } from '@vat/composition';
import { createRateLimiter } from '@vat/queues';
import { throttledWarn } from '@vat/runtime';
import type { ApiContext } from './api-context.js';
import type { CallRate } from './middleware/limit-rate.js';

/** A call that is this many milliseconds early is delayed, not refused: the jitter of a caller that respects the limit. */
const RATE_HOLD_MS = 80;

/** Makes limits of calls per second that all API processes count together; while Redis is away, each process counts alone. */
export const createCallRates = (
  prefix: string,
  { redis, metrics, log, now }: Pick<ApiContext, 'redis' | 'metrics' | 'log' | 'now'>,
) => {
  const warnAlone = throttledWarn(
    log,
    'Rate limits are counted per process while Redis is away.',
    REPEAT_WARNING_MS,
    now,
  );
  return (calls: number): CallRate => {
    const limiter = createRateLimiter({
      connection: redis,
      prefix,
      limit: { calls, windowMs: 1_000, holdMs: RATE_HOLD_MS },
      onAlone: (error) => {
        metrics.rateLimitAlone.inc();
        warnAlone(error);
      },
    });
    return { calls, count: limiter.admit };
  };
};
