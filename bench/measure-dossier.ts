import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { insertChecks, type World } from '@vat/testkit';
import { renderTable } from './measuring.js';
import { inWorld } from './open-world.js';

export type DossierFigures = {
  checks: number;
  /** Leaves of other accounts between those of this account in the same anchor. */
  other_leaves: number;
  mb: number;
  seconds: number;
  first_byte_ms: number;
  /** Maximum memory of the API above its memory before the export, in MB. */
  rss_mb: number;
  /** The number of calls of another client during the export, and the slowest of them. */
  other_calls: number;
  slowest_other_ms: number;
};

const SAMPLE_EVERY_MS = 20;
const OTHER_LEAVES_PER_CHECK = 9;
const CALL_EVERY_MS = 50;

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_000;

/** Inserts leaves of other accounts between the existing ones, so that each proof reads different blocks. */
const insertOtherLeaves = ({ sql }: Pick<World, 'sql'>) =>
  sql(
    `INSERT INTO anchor_leaf (check_id, hash)
     SELECT (substr(replace(check_id::text, '-', ''), 1, 12) || '7' || substr(m, 1, 3) || '8' || substr(m, 4, 15))::uuid,
       sha256(m::bytea)
     FROM anchor_leaf, generate_series(1, ${OTHER_LEAVES_PER_CHECK}) AS n, md5(random()::text || n) AS m
     ON CONFLICT DO NOTHING`,
  );

/** Calls another route about twenty times per second until `ended`. Returns the duration of each call in milliseconds. */
const callMeanwhile = async (world: World, ended: () => boolean): Promise<number[]> => {
  const times: number[] = [];
  while (!ended()) {
    const startedAt = performance.now();
    const response = await fetch(`${world.baseUrl()}/v1/usage`, {
      headers: { authorization: `Bearer ${world.account.live_key}` },
    });
    await response.arrayBuffer();
    times.push(performance.now() - startedAt);
    await pause(CALL_EVERY_MS);
  }
  return times;
};

/** Time and memory of the export of one account with `checks` checks, each with two exchanges of 2 KB. */
export const measureDossier = (checks: number): Promise<DossierFigures> =>
  inWorld({ apis: 1, settings: { RATE_LIMIT: '100000' } }, async (world) => {
    await insertChecks(world, { accountId: world.account.account_id, count: checks, answerBytes: 2_000 });
    await insertOtherLeaves(world);
    await world.admin('anchor', 'close');
    const fetchZip = (query: string) =>
      fetch(`${world.baseUrl()}/v1/exports/dossier.zip${query}`, {
        headers: { authorization: `Bearer ${world.account.live_key}` },
      });
    // Warm-up: the first export of a process loads modules, which is not measured.
    await (await fetchZip('?reference=none')).arrayBuffer();
    await world.sql('VACUUM ANALYZE');

    const { pid } = world.apis[0] ?? { pid: 0 };
    const before = rssOf(pid);
    let [peak, ended, bytes] = [before, false, 0];
    const sampling = setInterval(() => {
      peak = Math.max(peak, rssOf(pid));
    }, SAMPLE_EVERY_MS);
    const others = callMeanwhile(world, () => ended);
    const startedAt = performance.now();
    const response = await fetchZip('');
    if (response.status !== 200 || !response.body) throw new Error(`the export was answered ${response.status}`);
    let firstByte = 0;
    for await (const chunk of response.body) {
      firstByte ||= performance.now() - startedAt;
      bytes += chunk.length;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    clearInterval(sampling);
    ended = true;
    const times = await others;
    return {
      checks,
      other_leaves: checks * OTHER_LEAVES_PER_CHECK,
      mb: bytes / 1e6,
      seconds,
      first_byte_ms: firstByte,
      rss_mb: peak - before,
      other_calls: times.length,
      slowest_other_ms: Math.max(...times),
    };
  });

/** The part of the report about the export of a dossier. */
export const renderDossier = (figures: DossierFigures): string[] => [
  '### The dossier of one account',
  renderTable(
    ['checks', 'leaves of other accounts', 'MB', 'seconds', 'first byte (ms)', 'additional API memory (MB)'],
    [
      [
        figures.checks,
        figures.other_leaves,
        Math.round(figures.mb),
        figures.seconds.toFixed(1),
        Math.round(figures.first_byte_ms),
        Math.round(figures.rss_mb),
      ],
    ],
  ),
  `During the export ${figures.other_calls} other calls to the same process; the slowest took ${Math.round(figures.slowest_other_ms)} ms.`,
];
