// @ts-check
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memberStateSlots, migrate } from '@vat/db';
import { startPostgres } from '@vat/embedded';
import pg from 'pg';
import { ROOT } from '../prepare/run-program.mjs';
import { describeDatabase, readCatalogue } from './describe-database.mjs';
import { statementCalls } from './statement-calls.mjs';
import { findSites, sourceFile, statementAt } from './statement-sites.mjs';

/**
 * Compares the columns that packages/db declares for its statements with what a migrated Postgres says about each of them.
 * Needs the build of packages/db.
 *
 * @returns {Promise<string[]>} the differences, and the statements that no call of `statement-calls.mjs` reaches
 */
export const verifyStatements = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'vat-check-'));
  const server = await startPostgres({ dataDir, durable: false });
  try {
    await migrate(server.url, join(ROOT, 'prisma/migrations'));
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return [...(await describeAll(client)), ...(await takeSlot(server.url))];
    } finally {
      await client.end();
    }
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** @param {pg.Client} client */
const describeAll = async (client) => {
  const catalogue = await readCatalogue(client);
  const sites = findSites('packages/db/dist');
  /** @type {Map<string, Set<string>>} */
  const described = new Map();
  for (const rows of /** @type {const} */ (['none', 'false', 'true'])) {
    const db = describeDatabase(client, catalogue, rows, (at, faults) => {
      const site = statementAt(sites, at);
      described.set(site, new Set([...(described.get(site) ?? []), ...faults]));
    });
    // Made-up results may end a function with an error. Statements that it does not reach are reported below.
    for (const call of statementCalls(db))
      await Promise.resolve()
        .then(call)
        .catch(() => undefined);
  }
  return [
    ...[...described].flatMap(([site, faults]) => [...faults].map((fault) => `${sourceOf(site)} ${fault}`)),
    ...sites
      .filter((site) => !described.has(site))
      .map((site) => `${sourceOf(site)} is not reached by the calls in scripts/check/statement-calls.mjs`),
  ];
};

/** The position in the source of a line of the build, as file:line. @param {string} site */
const sourceOf = (site) => {
  const [file = '', line] = site.split(':');
  const map = new SourceMap(JSON.parse(readFileSync(join(ROOT, `${file}.map`), 'utf8')));
  const entry = map.findEntry(Number(line) - 1, Number.MAX_SAFE_INTEGER);
  return 'originalLine' in entry ? `${sourceFile(file)}:${entry.originalLine + 1}` : sourceFile(file);
};

/** The only statement outside Prisma that a running service uses. @param {string} url @returns {Promise<string[]>} */
const takeSlot = async (url) => {
  const slots = memberStateSlots({ url, lookupMs: 1_000, onError: () => undefined });
  try {
    return (await slots.take('DE')) === null ? ['the first slot of a member state is not free'] : [];
  } finally {
    await slots.close();
  }
};
