import type { EvidenceAge } from '@vat/db';
import { createMetrics } from '@vat/runtime';
import { watchEvidence } from './watch-evidence.js';

const START = new Date('2026-11-20T10:00:00.000Z').getTime();
const MINUTE = 60_000;
const NOTHING: EvidenceAge = {
  unanchoredSince: null,
  stamps: { check: { pending: 0, since: null }, anchor: { pending: 0, since: null } },
};

/** A watcher over an anchor an hour, with a clock in minutes and what it said. */
const open = () => {
  const said: [string, Record<string, unknown> | undefined][] = [];
  const state = { minute: 0, age: NOTHING };
  const metrics = createMetrics('test');
  const watch = watchEvidence({
    readAge: async () => state.age,
    anchorEveryMs: 60 * MINUTE,
    metrics,
    now: () => new Date(START + state.minute * MINUTE),
    log: { error: (message: string, fields?: Record<string, unknown>) => void said.push([message, fields]) },
  });
  const at = async (minute: number, age: EvidenceAge) => {
    Object.assign(state, { minute, age });
    await watch();
    return said.splice(0);
  };
  return { at, metrics };
};
const since = new Date(START);
const unanchored = { ...NOTHING, unanchoredSince: since };
const unstamped = { ...NOTHING, stamps: { ...NOTHING.stamps, anchor: { pending: 2, since } } };

test('without waiting evidence nothing is logged', async () => {
  const { at } = open();
  expect(await at(500, NOTHING)).toEqual([]);
});

test('checks that no anchor takes in two periods alarm, again after ten minutes, and no more once they are taken', async () => {
  const { at } = open();
  expect(await at(130, unanchored)).toEqual([]);
  expect(await at(131, unanchored)).toEqual([['Checks wait too long for an anchor.', { since: since.toISOString() }]]);
  expect(await at(140, unanchored)).toEqual([]);
  expect(await at(141, unanchored)).toHaveLength(1);
  expect(await at(200, NOTHING)).toEqual([]);
});

test('stamps that are not had for an hour alarm, each kind by itself', async () => {
  const { at } = open();
  expect(await at(60, unstamped)).toEqual([]);
  expect(await at(61, unstamped)).toEqual([
    ['Time-stamps have been pending for too long.', { kind: 'anchor', pending: 2, since: since.toISOString() }],
  ]);
  const both = { ...unstamped, stamps: { ...unstamped.stamps, check: { pending: 1, since } } };
  expect((await at(62, both)).map(([, fields]) => fields?.kind)).toEqual(['check']);
});

test('metrics report ages in seconds, and how many stamps are pending', async () => {
  const { at, metrics } = open();
  await at(2, { ...unstamped, unanchoredSince: since });
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/vat_evidence_waiting_seconds\{what="unanchored",.*\} 120/);
  expect(text).toMatch(/vat_evidence_waiting_seconds\{what="unstamped_anchor",.*\} 120/);
  expect(text).toMatch(/vat_evidence_waiting_seconds\{what="unstamped_check",.*\} 0/);
  expect(text).toMatch(/vat_stamps_pending\{kind="anchor",.*\} 2/);
});
