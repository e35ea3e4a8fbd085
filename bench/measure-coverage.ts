import { fillDatabase, issueKeys, type World } from '@vat/testkit';
import { renderTable } from './measuring.js';
import { inWorld } from './open-world.js';

/** Uploads of a file of supplies, each its seconds from the call to the 201. */
export type CoverageFigures = {
  requests: number;
  checks: number;
  lines: number;
  uploads: { name: string; seconds: number[]; statuses: Record<string, number> }[];
  report: { seconds: number; gaps: number; kib: number };
};

const REPEATED = 3;

type Answer = Record<'covered' | 'stale' | 'weak' | 'invalid' | 'missing', number> & {
  coverage_id: string;
  error?: unknown;
};

/** The numbers of checks all over the account's history, each with a supply up to two months after its check. */
const readSupplies = async ({ sql }: World, account: string, lines: number) =>
  sql<{ number: string; date: string }>(
    `SELECT vat_number AS number, ((checked_at AT TIME ZONE 'UTC')::date + get_byte(hash, 0) % 60)::text AS date
     FROM "check" WHERE account_id = $1 AND NOT test ORDER BY hash LIMIT $2`,
    [account, lines],
  );

/** `POST /v1/coverage` with `lines` supplies of an account with 60 % of `requests`, and the report of the one with most gaps. */
export const measureCoverage = (
  { requests, lines }: { requests: number; lines: number },
  log: (line: string) => void,
): Promise<CoverageFigures> =>
  inWorld({ apis: 1, settings: { RATE_LIMIT: '100000' } }, async (world) => {
    log(`filling a database with ${requests} requests`);
    const { account } = await fillDatabase(String(world.settings.DATABASE_URL), { requests });
    const [counted] = await world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM "check" WHERE account_id = $1 AND NOT test',
      [account],
    );
    const supplies = await readSupplies(world, account, lines);
    const [key] = await issueKeys(world, 1, account);
    const authorization = `Bearer ${key}`;
    const file = ['vat_number,supply_date', ...supplies.map(({ number, date }) => `${number},${date}`)].join('\n');
    const uploads: CoverageFigures['uploads'] = [];
    let weakest = '';
    for (const query of [
      'min_grade=basic',
      'min_grade=qualified',
      'min_grade=qualified&max_age_days=366',
      'queue_gaps=true',
    ]) {
      log(query);
      const seconds: number[] = [];
      let statuses: Record<string, number> = {};
      for (let n = 0; n < (query.startsWith('queue') ? 1 : REPEATED); n += 1) {
        const startedAt = performance.now();
        const response = await fetch(`${world.baseUrl()}/v1/coverage?${query}`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'text/csv' },
          body: file,
        });
        const body = (await response.json()) as Answer;
        const { coverage_id: id, covered, stale, weak, invalid, missing, error } = body;
        if (response.status !== 201) throw new Error(`${query}: ${JSON.stringify(error)}`);
        seconds.push(Number(((performance.now() - startedAt) / 1_000).toFixed(2)));
        statuses = { covered, stale, weak, invalid, missing };
        if (query.endsWith('qualified')) weakest = id;
      }
      uploads.push({ name: query, seconds, statuses });
    }
    const startedAt = performance.now();
    const report = await fetch(`${world.baseUrl()}/v1/coverage/${weakest}/report.pdf`, { headers: { authorization } });
    const kib = Math.round((await report.arrayBuffer()).byteLength / 1_024);
    const seconds = Number(((performance.now() - startedAt) / 1_000).toFixed(2));
    const gaps = lines - (uploads[1]?.statuses.covered ?? 0);
    return { requests, checks: counted?.n ?? 0, lines: supplies.length, uploads, report: { seconds, gaps, kib } };
  });

export const renderCoverage = ({ checks, lines, uploads, report }: CoverageFigures): string[] => [
  `### Coverage of ${lines} supplies in an account with ${checks} checks`,
  renderTable(
    ['upload', 'seconds', 'lines by status'],
    uploads.map(({ name, seconds, statuses }) => [name, seconds.join(', '), JSON.stringify(statuses)]),
  ),
  `The report of ${report.gaps} gaps took ${report.seconds} s (${report.kib} KiB).`,
];
