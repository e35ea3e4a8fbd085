import type { EnrichmentSourceName } from '../check-sources.js';
import type { SourceFacts } from './facts.js';
import { type EnrichmentFinding, type EnrichmentSource, type EnrichmentSubject, enrichCheck } from './upstream.js';

const SUBJECT: EnrichmentSubject = {
  ...{ memberState: 'CZ', national: '00006947', valid: true, name: 'MF', address: null, requester: null },
  ...{ trader: null, registerId: null, accountId: 'one', callerWaits: true },
};

type Call = { name: EnrichmentSourceName; registerId: string | null };

const finding = (name: EnrichmentSourceName, facts?: SourceFacts): EnrichmentFinding => ({
  entry: {
    ...{ source: name, outcome: 'found', started_at: '2026-11-20T10:00:00.000Z', duration_ms: 1 },
    ...(facts ? { facts } : {}),
  },
  exchange: null,
});

const source = (
  calls: Call[],
  name: EnrichmentSourceName,
  { facts, usesRegisterId, applies = true }: { facts?: SourceFacts; usesRegisterId?: true; applies?: boolean } = {},
): EnrichmentSource => ({
  name,
  appliesTo: () => applies,
  ...(usesRegisterId ? { usesRegisterId } : {}),
  consult: async ({ registerId }) => {
    calls.push({ name, registerId });
    return finding(name, facts);
  },
});

const signal = new AbortController().signal;

test('a source that searches by register number is called last, with the number that another found', async () => {
  const calls: Call[] = [];
  const findings = await enrichCheck(
    [
      source(calls, 'gleif', { usesRegisterId: true }),
      source(calls, 'de_evatr', { facts: { receipt: 'x' } }),
      source(calls, 'cz_ares', { facts: { register_id: '00006947' } }),
      source(calls, 'ro_anaf', { applies: false }),
    ],
    SUBJECT,
    signal,
  );
  expect(calls).toEqual([
    { name: 'de_evatr', registerId: null },
    { name: 'cz_ares', registerId: null },
    { name: 'gleif', registerId: '00006947' },
  ]);
  expect(findings.map(({ entry }) => entry.source)).toEqual(['gleif', 'de_evatr', 'cz_ares']);
});

test('without a register number it is called all the same', async () => {
  const calls: Call[] = [];
  await enrichCheck([source(calls, 'gleif', { usesRegisterId: true })], SUBJECT, signal);
  expect(calls).toEqual([{ name: 'gleif', registerId: null }]);
});

test('all of it ends with the signal, however many sources hang', async () => {
  const stop = new AbortController();
  const hanging = (name: EnrichmentSourceName, usesRegisterId?: true): EnrichmentSource => ({
    name,
    appliesTo: () => true,
    ...(usesRegisterId ? { usesRegisterId } : {}),
    consult: (_subject, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) resolve(finding(name));
        signal?.addEventListener('abort', () => resolve(finding(name)));
      }),
  });
  const findings = enrichCheck([hanging('cz_ares'), hanging('ro_anaf'), hanging('gleif', true)], SUBJECT, stop.signal);
  stop.abort();
  expect((await findings).map(({ entry }) => entry.source)).toEqual(['cz_ares', 'ro_anaf', 'gleif']);
});
