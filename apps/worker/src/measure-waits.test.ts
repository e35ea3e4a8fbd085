import type { Wait } from '@vat/domain';
import { createMetrics } from '@vat/runtime';
import { measureWaits } from './measure-waits.js';

const START = Date.parse('2026-11-20T10:00:00.000Z');

test('waits are measured at most every five seconds, and again at once after the clock was set back', async () => {
  let atMs = START;
  let waits: Wait[] = [];
  const metrics = createMetrics('test');
  const measure = measureWaits({ readWaits: async () => waits, metrics, now: () => new Date(atMs) });
  const since = (oldestDueAt: Date): Wait[] => [
    { memberState: 'DE', class: 'background', dispatched: true, depth: 1, oldestDueAt },
  ];
  const shownAt = async (ms: number) => {
    atMs = START + ms;
    await measure();
    return (await metrics.oldestWaits.get()).values.map(({ value }) => value);
  };
  waits = since(new Date(START - 60_000));
  expect([await shownAt(0), await shownAt(4_999), await shownAt(5_000)]).toEqual([[60], [60], [65]]);
  const hour = 3_600_000;
  waits = since(new Date(START - hour - 10_000));
  expect(await shownAt(-hour)).toEqual([10]);
});
