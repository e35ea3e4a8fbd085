import { publicId } from '@vat/domain';
import { FILLED_DAYS, type FilledIds, fillDatabase, issueKeys, type World } from '@vat/testkit';
import { type Percentiles, percentiles, renderTable } from './measuring.js';
import { openWorld } from './open-world.js';

/** The calls of an account with 60 % of all rows. */
export type LargeFigures = {
  requests: number;
  fill_seconds: number;
  gib: number;
  calls: { name: string; ms: Percentiles; not_200: number }[];
};

const CALLS = 60;
const WARM_UP = 10;
const DAY_MS = 86_400_000;
/** The small database fills a page, too. */
const PAGE = 'limit=20';

/** What is called: every list with its filters, and one of each object. */
const pathsOf = (ids: FilledIds, until: Date): Record<string, string> => {
  const day = (ago: number) => new Date(until.getTime() - ago * DAY_MS).toISOString().slice(0, 10);
  const middle = `from=${day(FILLED_DAYS / 2 + 15)}&to=${day(FILLED_DAYS / 2 - 15)}`;
  const lists = {
    'no filter': '',
    'valid=false': 'valid=false',
    'valid=true': 'valid=true',
    'a month of the middle': middle,
    'until the tenth day': `to=${day(FILLED_DAYS - 10)}`,
    'valid=false, that month': `valid=false&${middle}`,
    'valid=false, until the tenth day': `valid=false&to=${day(FILLED_DAYS - 10)}`,
    vat_number: `vat_number=${ids.vatNumber}`,
    'vat_number, valid=false': `vat_number=${ids.vatNumber}&valid=false`,
    'vat_number of no check': 'vat_number=DE123456789',
    reference: `reference=${ids.reference}`,
    'reference, valid=false': `reference=${ids.reference}&valid=false`,
    'reference of no check': 'reference=none&valid=true',
  };
  return {
    ...Object.fromEntries(
      Object.entries(lists).map(([name, query]) => [`checks: ${name}`, `/v1/checks?${PAGE}&${query}`]),
    ),
    deliveries: `/v1/webhook/deliveries?${PAGE}`,
    'deliveries: status=failed': `/v1/webhook/deliveries?${PAGE}&status=failed`,
    'deliveries: event of none': `/v1/webhook/deliveries?${PAGE}&event=watch.changed`,
    'deliveries: status=failed, that month': `/v1/webhook/deliveries?${PAGE}&status=failed&${middle}`,
    batches: '/v1/batches?limit=5',
    'lines of a batch': `/v1/batches/${publicId('batch', ids.batch)}/lines?${PAGE}`,
    'lines of a batch: valid=false': `/v1/batches/${publicId('batch', ids.batch)}/lines?${PAGE}&valid=false`,
    watches: `/v1/watches?${PAGE}`,
    anchors: '/v1/anchors?limit=5',
    'a check': `/v1/checks/${publicId('check', ids.check)}`,
    'a request': `/v1/requests/${publicId('request', ids.request)}`,
    'a delivery': `/v1/webhook/deliveries/${publicId('delivery', ids.delivery)}`,
    'a running batch': `/v1/batches/${publicId('batch', ids.runningBatch)}`,
    usage: '/v1/usage',
    status: '/v1/status',
  };
};

type Filled = { size: LargeFigures; world: World; authorization: string; paths: Record<string, string> };

/** Only reads are measured, so that what is filled need not survive a crash. */
const WHILE_FILLING = { full_page_writes: 'off', max_wal_size: '4GB' };

/** Fills the database of a world with the settings of {@link WHILE_FILLING}. */
const fillFast = async ({ settings, sql }: World, size: { requests: number; until: Date }): Promise<FilledIds> => {
  for (const [name, value] of Object.entries(WHILE_FILLING)) await sql(`ALTER SYSTEM SET ${name} = '${value}'`);
  await sql('SELECT pg_reload_conf()');
  try {
    return await fillDatabase(String(settings.DATABASE_URL), size);
  } finally {
    for (const name of Object.keys(WHILE_FILLING)) await sql(`ALTER SYSTEM RESET ${name}`);
    await sql('SELECT pg_reload_conf()');
  }
};

const openFilled = async (requests: number): Promise<Filled> => {
  const world = await openWorld({ apis: 1, settings: { RATE_LIMIT: '100000' } });
  try {
    const [until, startedAt] = [new Date(), performance.now()];
    const ids = await fillFast(world, { requests, until });
    const seconds = (performance.now() - startedAt) / 1_000;
    const [stored] = await world.sql<{ gib: number }>(
      'SELECT pg_database_size(current_database()) / 1073741824.0::float8 AS gib',
    );
    const gib = Number((stored?.gib ?? 0).toFixed(1));
    const [key] = await issueKeys(world, 1, ids.account);
    return {
      size: { requests, fill_seconds: Math.round(seconds), gib, calls: [] },
      world,
      authorization: `Bearer ${key}`,
      paths: pathsOf(ids, until),
    };
  } catch (error) {
    await world.stop();
    throw error;
  }
};

/** Calls a path of each database in turn, so that what else the machine does slows all of them alike. */
const callInTurn = async (filled: readonly Filled[], name: string): Promise<void> => {
  const measured = filled.map(() => ({ times: [] as number[], failed: 0 }));
  for (let n = 0; n < WARM_UP + CALLS; n += 1)
    for (const [at, { world, authorization, paths }] of filled.entries()) {
      const startedAt = performance.now();
      const response = await fetch(`${world.baseUrl()}${paths[name]}`, { headers: { authorization } });
      await response.arrayBuffer();
      const own = measured[at];
      if (n >= WARM_UP) own?.times.push(performance.now() - startedAt);
      if (own && response.status !== 200) own.failed += 1;
    }
  for (const [at, { size }] of filled.entries())
    size.calls.push({ name, ms: percentiles(measured[at]?.times ?? []), not_200: measured[at]?.failed ?? 0 });
};

/** The time of each call of one client, in databases with each of `sizes` requests. */
export const measureLarge = async (sizes: readonly number[], log: (line: string) => void): Promise<LargeFigures[]> => {
  const filled: Filled[] = [];
  try {
    for (const requests of sizes) {
      log(`filling a database with ${requests} requests`);
      filled.push(await openFilled(requests));
    }
    log('calls');
    for (const name of Object.keys(filled[0]?.paths ?? {})) await callInTurn(filled, name);
    return filled.map(({ size }) => size);
  } finally {
    for (const { world } of filled) await world.stop();
  }
};

/** A row for each call with its time at each size, and the ratio of the largest to the smallest. */
export const renderLarge = (sizes: LargeFigures[]): string[] => {
  const [small, large] = [sizes[0], sizes.at(-1)];
  const at = (size: LargeFigures | undefined, name: string) => size?.calls.find((call) => call.name === name);
  const millis = (call: LargeFigures['calls'][number] | undefined) => (call ? `${call.ms.p50} / ${call.ms.p95}` : '');
  return [
    '### Calls in an account with 60 % of all rows',
    `Filled in ${sizes.map(({ fill_seconds, gib }) => `${fill_seconds} s (${gib} GiB)`).join(', ')}.`,
    renderTable(
      ['call', ...sizes.map(({ requests }) => `${requests} requests, p50 / p95 (ms)`), 'ratio p50', 'not 200'],
      (small?.calls ?? []).map(({ name, ms }) => [
        name,
        ...sizes.map((size) => millis(at(size, name))),
        ((at(large, name)?.ms.p50 ?? 0) / ms.p50).toFixed(2),
        sizes.reduce((sum, size) => sum + (at(size, name)?.not_200 ?? 0), 0),
      ]),
    ),
  ];
};
