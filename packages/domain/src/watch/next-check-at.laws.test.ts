import fc from 'fast-check';
import { newUuid } from '../ids.js';
import { LEAST_INTERVAL_MS, momentOfDay, nextCheckAt } from './run-watch.js';
import { WATCH_FREQUENCIES } from './watch.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const id = fc.uuid();
const frequency = fc.constantFrom(...WATCH_FREQUENCIES);
const moment = fc
  .date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.getTime());

test("the next run is at the watch's time of day, never early, and less than a day after the earliest time", () => {
  fc.assert(
    fc.property(id, frequency, moment, fc.integer({ min: 0, max: 40 * DAY_MS }), (watch, often, after, wait) => {
      const notBefore = after + wait;
      const earliest = Math.max(after + LEAST_INTERVAL_MS[often], notBefore);
      const next = nextCheckAt(watch, often, new Date(after), new Date(notBefore)).getTime();
      expect(next % DAY_MS).toBe(momentOfDay(watch));
      expect(next).toBeGreaterThanOrEqual(earliest);
      expect(next).toBeLessThan(earliest + DAY_MS);
    }),
    { numRuns: 2_000 },
  );
});

test('runs that begin late by less than half the interval do not shift the ones that follow', () => {
  const interval = { daily: DAY_MS, weekly: 7 * DAY_MS };
  fc.assert(
    fc.property(id, frequency, moment, fc.integer({ min: 0, max: 12 * HOUR_MS - 1 }), (watch, often, after, late) => {
      const due = nextCheckAt(watch, often, new Date(after));
      const next = nextCheckAt(watch, often, new Date(due.getTime() + late));
      expect(next.getTime() - due.getTime()).toBe(interval[often]);
    }),
    { numRuns: 2_000 },
  );
});

test('watches created at the same time are spread evenly over the day', () => {
  const COUNT = 24_000;
  const hours = new Array<number>(24).fill(0);
  for (let n = 0; n < COUNT; n += 1) {
    const hour = Math.floor(momentOfDay(newUuid()) / HOUR_MS);
    hours[hour] = (hours[hour] ?? 0) + 1;
  }
  // A thousand an hour; of a fair spread an hour with 200 more or less would be six standard deviations out.
  for (const inHour of hours) expect(Math.abs(inHour - COUNT / 24)).toBeLessThan(200);
});
