import { until } from '@vat/testkit';
import fc from 'fast-check';
import { cachePermits } from './cache-permits.js';
import type { AcquirePermit, EndpointPermit, PermitUse } from './limit-endpoint-concurrency.js';

const REST_MS = 40;
const MAX_MS = 5_000;
const QUICK: PermitUse = { durationMs: 3, comesBack: false };

/** Places of one endpoint as Redis keeps them, and how often it was asked. */
const keeper = (share: number) => {
  const seen = { asked: 0, out: 0, most: 0, given: [] as PermitUse[], contended: false };
  const take: AcquirePermit = async () => {
    seen.asked += 1;
    if (seen.out >= share) return { kind: 'full', waitMs: 30_000, suspend: async () => undefined };
    seen.out += 1;
    seen.most = Math.max(seen.most, seen.out);
    const release = async (use: PermitUse) => {
      seen.out -= 1;
      seen.given.push(use);
    };
    return { kind: 'taken', contended: seen.contended, release };
  };
  return { seen, take };
};
const taken = (place: EndpointPermit) => {
  if (place.kind !== 'taken') throw new Error(`the place is ${place.kind}`);
  return place;
};
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const resting = (take: AcquirePermit, times: { restMs?: number; maxMs?: number } = {}) => {
  const places = cachePermits({ take, restMs: REST_MS, maxMs: MAX_MS, ...times });
  closers.push(places.close);
  return places;
};

test('the next attempt to the same endpoint has the place of the last, without lookingUp for it', async () => {
  const { seen, take } = keeper(4);
  const places = resting(take, { restMs: 10_000 });
  for (let n = 0; n < 5; n += 1) await taken(await places.take('e', `job-${n}`, 'first')).release(QUICK);
  expect(seen).toMatchObject({ asked: 1, out: 1, given: [] });
  taken(await places.take('another', 'job', 'first'));
  expect(seen.asked).toBe(2);
});

test('a place that nobody needs is given back soon', async () => {
  const { seen, take } = keeper(4);
  await taken(await resting(take).take('e', 'job', 'first')).release(QUICK);
  expect(seen.out).toBe(1);
  await until('the place to be given back', () => seen.out === 0);
  expect(seen.given).toEqual([QUICK]);
});

test.each<[string, PermitUse, number]>([
  ['whose receiver was slow', { durationMs: MAX_MS, comesBack: false }, MAX_MS],
  ['that was not used', { durationMs: null, comesBack: false }, MAX_MS],
  ['whose job comes back', { durationMs: 3, comesBack: true }, MAX_MS],
  ['that has been kept for long', QUICK, 0],
])('a place %s is given back at once', async (_title, use, maxMs) => {
  const { seen, take } = keeper(4);
  await taken(await resting(take, { maxMs }).take('e', 'job', 'first')).release(use);
  expect(seen).toMatchObject({ out: 0, given: [use] });
});

test('no place rests while others wait for its endpoint, in this process or elsewhere', async () => {
  const here = keeper(1);
  const places = resting(here.take, { restMs: 10_000 });
  const place = taken(await places.take('e', 'a', 'first'));
  expect((await places.take('e', 'b', 'first')).kind).toBe('full');
  await place.release(QUICK);
  expect(here.seen.out).toBe(0);

  const elsewhere = keeper(1);
  elsewhere.seen.contended = true;
  await taken(await resting(elsewhere.take, { restMs: 10_000 }).take('e', 'a', 'first')).release(QUICK);
  expect(elsewhere.seen.out).toBe(0);
});

test('closing gives back what rests', async () => {
  const { seen, take } = keeper(4);
  const places = resting(take, { restMs: 10_000 });
  const both = [taken(await places.take('e', 'a', 'first')), taken(await places.take('e', 'b', 'first'))];
  for (const place of both) await place.release(QUICK);
  expect(seen.out).toBe(2);
  await places.close();
  expect(seen.out).toBe(0);
});

test('an endpoint never has more attempts in flight than places, and all of them are given back', async () => {
  const attempt = fc.record({ ms: fc.integer({ min: 0, max: 3 }), slow: fc.boolean(), wait: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(attempt, { maxLength: 25 }), async (share, attempts) => {
      const { seen, take } = keeper(share);
      const places = cachePermits({ take, restMs: 1, maxMs: 1_000 });
      let inFlight = 0;
      const run = async ({ ms, slow }: { ms: number; slow: boolean }) => {
        const place = await places.take('e', 'job', 'first');
        if (place.kind !== 'taken') return;
        inFlight += 1;
        expect(inFlight).toBeLessThanOrEqual(share);
        await new Promise((resolve) => setTimeout(resolve, ms)); // how long the receiver takes
        inFlight -= 1;
        await place.release({ durationMs: slow ? 1_000 : 1, comesBack: false });
      };
      const running: Promise<void>[] = [];
      for (const each of attempts) {
        running.push(run(each));
        if (each.wait) await running.at(-1);
      }
      await Promise.all(running);
      await places.close();
      expect(seen).toMatchObject({ out: 0 });
      expect(seen.most).toBeLessThanOrEqual(share);
    }),
    { numRuns: 60 },
  );
});
