import { correctedClock } from './corrected-clock.js';

const SHARED = Date.parse('2026-11-22T10:00:00.000Z');

/** A clock whose own time differs from the shared one by `skewMs`; `offsets`: what it reported. */
const clockOf = (
  skewMs: () => number,
  readTime: () => Promise<Date> = async () => new Date(SHARED),
  { measureEveryMs = 5, after = Promise.resolve() } = {},
) => {
  const offsets: number[] = [];
  const clock = correctedClock({
    readTime,
    onOffset: (offset) => offsets.push(offset),
    ownTime: () => SHARED + skewMs(),
    measureEveryMs,
    after,
  });
  return { clock, offsets };
};
const closeTo = (clock: { now: () => Date }) => Math.abs(clock.now().getTime() - SHARED);

test.each([30_000, -30_000, 3_600_000])('a clock that is %d ms ahead is corrected', async (skewMs) => {
  const { clock, offsets } = clockOf(() => skewMs);
  await clock.measured;
  clock.close();
  expect(closeTo(clock)).toBeLessThan(250);
  expect(offsets).toHaveLength(1);
});

test('a clock that nearly agrees is left as it is', async () => {
  const { clock, offsets } = clockOf(() => 300);
  await clock.measured;
  clock.close();
  expect([clock.now().getTime() - SHARED, offsets]).toEqual([300, []]);
});

test('a clock that is set right during operation is no longer corrected', async () => {
  let skewMs = -30_000;
  let reads = 0;
  const { clock, offsets } = clockOf(
    () => skewMs,
    async () => {
      reads += 1;
      return new Date(SHARED);
    },
  );
  await clock.measured;
  skewMs = 0;
  const before = reads;
  while (reads < before + 2) await new Promise((resolve) => setImmediate(resolve));
  clock.close();
  expect(closeTo(clock)).toBe(0);
  expect(offsets).toEqual([expect.any(Number), 0]);
});

test.each([
  ['forward', 5 * 365 * 86_400_000],
  ['back', -7_200_000],
])('a clock that is set %s during operation moves no time, and is compared again at once', async (_where, stepMs) => {
  let skewMs = 0;
  let reads = 0;
  const readTime = async () => {
    reads += 1;
    return new Date(SHARED);
  };
  const { clock, offsets } = clockOf(() => skewMs, readTime, { measureEveryMs: 3_600_000 });
  await clock.measured;
  skewMs = stepMs;
  expect(closeTo(clock)).toBeLessThan(250);
  while (offsets.length === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.close();
  expect(closeTo(clock)).toBeLessThan(250);
  expect([reads, Math.abs((offsets[0] ?? 0) + stepMs) < 250]).toEqual([2, true]);
});

test('while the shared clock cannot be read, the own one is used', async () => {
  const { clock, offsets } = clockOf(
    () => 30_000,
    () => Promise.reject(new Error('Postgres is away')),
  );
  await clock.measured;
  clock.close();
  expect([clock.now().getTime() - SHARED, offsets]).toEqual([30_000, []]);
});

test('a clock that could not be compared at the start is compared again at once, not only at the next regular time', async () => {
  let reads = 0;
  const readTime = async () => {
    reads += 1;
    if (reads <= 2) throw new Error('Postgres is busy');
    return new Date(SHARED);
  };
  const { clock, offsets } = clockOf(() => -3_600_000, readTime, { measureEveryMs: 3_600_000 });
  await clock.measured;
  while (offsets.length === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.close();
  expect(closeTo(clock)).toBeLessThan(250);
  expect(reads).toBe(3);
});

test('the clocks are compared once the connections are open', async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reads = 0;
  const readTime = async () => {
    reads += 1;
    return new Date(SHARED);
  };
  const { clock } = clockOf(() => 30_000, readTime, { after: opened });
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBe(0);
  open();
  await clock.measured;
  clock.close();
  expect(reads).toBe(1);
});
