import { until } from '@vat/testkit';
import fc from 'fast-check';
import { cachePermits } from './cache-permits.js';
import type { AcquirePermit, EndpointPermit, PermitUse } from './limit-endpoint-concurrency.js';

const REST_MS = 40;
const MAX_MS = 5_000;
const QUICK: PermitUse = { durationMs: 3, runsAgain: false };

/** The permits of one endpoint as Redis stores them, and the number of calls. */
const fakeLimiter = (share: number) => {
  const seen = { calls: 0, inUse: 0, maxInUse: 0, released: [] as PermitUse[], contended: false };
  const take: AcquirePermit = async () => {
    seen.calls += 1;
    if (seen.inUse >= share) return { kind: 'full', waitMs: 30_000, suspend: async () => undefined };
    seen.inUse += 1;
    seen.maxInUse = Math.max(seen.maxInUse, seen.inUse);
    const release = async (use: PermitUse) => {
      seen.inUse -= 1;
      seen.released.push(use);
    };
    return { kind: 'taken', contended: seen.contended, release };
  };
  return { seen, take };
};
const taken = (permit: EndpointPermit) => {
  if (permit.kind !== 'taken') throw new Error(`the permit is ${permit.kind}`);
  return permit;
};
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const cached = (take: AcquirePermit, times: { restMs?: number; maxMs?: number } = {}) => {
  const permits = cachePermits({ take, restMs: REST_MS, maxMs: MAX_MS, ...times });
  closers.push(permits.close);
  return permits;
};

test('the next attempt to the same endpoint reuses the cached permit without a call to Redis', async () => {
  const { seen, take } = fakeLimiter(4);
  const permits = cached(take, { restMs: 10_000 });
  for (let n = 0; n < 5; n += 1) await taken(await permits.take('e', `job-${n}`, 'first')).release(QUICK);
  expect(seen).toMatchObject({ calls: 1, inUse: 1, released: [] });
  taken(await permits.take('another', 'job', 'first'));
  expect(seen.calls).toBe(2);
});

test('a permit that is not reused is released soon', async () => {
  const { seen, take } = fakeLimiter(4);
  await taken(await cached(take).take('e', 'job', 'first')).release(QUICK);
  expect(seen.inUse).toBe(1);
  await until('the release of the permit', () => seen.inUse === 0);
  expect(seen.released).toEqual([QUICK]);
});

test.each<[string, PermitUse, number]>([
  ['whose receiver was slow', { durationMs: MAX_MS, runsAgain: false }, MAX_MS],
  ['that was not used', { durationMs: null, runsAgain: false }, MAX_MS],
  ['whose job runs again', { durationMs: 3, runsAgain: true }, MAX_MS],
  ['that has been held for long', QUICK, 0],
])('a permit %s is released at once', async (_title, use, maxMs) => {
  const { seen, take } = fakeLimiter(4);
  await taken(await cached(take, { maxMs }).take('e', 'job', 'first')).release(use);
  expect(seen).toMatchObject({ inUse: 0, released: [use] });
});

test('no permit is cached while other jobs wait for its endpoint, in this process or elsewhere', async () => {
  const here = fakeLimiter(1);
  const permits = cached(here.take, { restMs: 10_000 });
  const permit = taken(await permits.take('e', 'a', 'first'));
  expect((await permits.take('e', 'b', 'first')).kind).toBe('full');
  await permit.release(QUICK);
  expect(here.seen.inUse).toBe(0);

  const elsewhere = fakeLimiter(1);
  elsewhere.seen.contended = true;
  await taken(await cached(elsewhere.take, { restMs: 10_000 }).take('e', 'a', 'first')).release(QUICK);
  expect(elsewhere.seen.inUse).toBe(0);
});

test('close releases the cached permits', async () => {
  const { seen, take } = fakeLimiter(4);
  const permits = cached(take, { restMs: 10_000 });
  const both = [taken(await permits.take('e', 'a', 'first')), taken(await permits.take('e', 'b', 'first'))];
  for (const permit of both) await permit.release(QUICK);
  expect(seen.inUse).toBe(2);
  await permits.close();
  expect(seen.inUse).toBe(0);
});

test('an endpoint never has more attempts in flight than permits, and every permit is released', async () => {
  const attempt = fc.record({ ms: fc.integer({ min: 0, max: 3 }), slow: fc.boolean(), wait: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(attempt, { maxLength: 25 }), async (share, attempts) => {
      const { seen, take } = fakeLimiter(share);
      const permits = cachePermits({ take, restMs: 1, maxMs: 1_000 });
      let inFlight = 0;
      const run = async ({ ms, slow }: { ms: number; slow: boolean }) => {
        const permit = await permits.take('e', 'job', 'first');
        if (permit.kind !== 'taken') return;
        inFlight += 1;
        expect(inFlight).toBeLessThanOrEqual(share);
        await new Promise((resolve) => setTimeout(resolve, ms)); // the response time of the receiver
        inFlight -= 1;
        await permit.release({ durationMs: slow ? 1_000 : 1, runsAgain: false });
      };
      const running: Promise<void>[] = [];
      for (const each of attempts) {
        running.push(run(each));
        if (each.wait) await running.at(-1);
      }
      await Promise.all(running);
      await permits.close();
      expect(seen).toMatchObject({ inUse: 0 });
      expect(seen.maxInUse).toBeLessThanOrEqual(share);
    }),
    { numRuns: 60 },
  );
});
