import { createRateLimiter } from './create-rate-limiter.js';
import { raise, testRedis } from './test-redis.fixture.js';

const LIMIT = { calls: 3, windowMs: 1_000, holdMs: 80 };

const redis = testRedis();

/** Stores admissions of a key that lie ahead of the clock of Redis, as after it was set back by so many milliseconds. */
const setBack = async (key: string, ms: number): Promise<void> => {
  const [seconds = 0, micros = 0] = (await redis.connection.time()).map(Number);
  const now = seconds * 1_000_000 + micros;
  for (let n = 0; n < LIMIT.calls; n += 1)
    await redis.connection.lpush(`${redis.prefix}:rate:${key}`, String(now + ms * 1_000 + n));
};

test('after the clock of Redis was set back by minutes, calls are admitted, and at most as many as the limit', async () => {
  const limiter = createRateLimiter({ ...redis, limit: LIMIT, onAlone: raise });
  await setBack('minutes', 180_000);
  const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.admit('minutes')));
  expect(decisions.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false]);
  for (const { waitMs } of decisions) expect(waitMs).toBeLessThanOrEqual(LIMIT.windowMs);
});

test('a clock that was set back by less than a window admits no more than the limit', async () => {
  const limiter = createRateLimiter({ ...redis, limit: LIMIT, onAlone: raise });
  await setBack('moment', 500);
  const decision = await limiter.admit('moment');
  expect(decision.admitted).toBe(false);
  expect(decision.waitMs).toBeLessThanOrEqual(2 * LIMIT.windowMs);
});
