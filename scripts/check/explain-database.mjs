// @ts-check
import { createRequire } from 'node:module';
import { sqlOf } from '@vat/db';
import pg from 'pg';
import { callSite, databaseOf } from './statement-sites.mjs';

/** How `pg` sends a value. @type {{ prepareValue: (value: unknown) => unknown }} */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils');

/**
 * @typedef {import('./plan-faults.mjs').PlanNode} PlanNode
 * @typedef {'custom' | 'generic'} PlanMode with the values of the parameters, or without, as a statement that is prepared and
 *   run often
 * @typedef {{ site: string, mode: PlanMode, text: string, plan: PlanNode | null }} Explained `site`: file:line; `plan`: null for a
 *   statement without a plan, such as SET
 */

/** Statements that Postgres does not plan. */
const UNPLANNED = /^\s*(?:SET|LOCK|SAVEPOINT|ROLLBACK)\b/i;
/** A statement that a function repeats is explained this often. */
const EXPLAINED_RUNS = 2;

/** @param {unknown} value */
const literal = (value) => {
  const sent = prepareValue(value);
  if (sent === null || sent === undefined) return 'NULL';
  return pg.escapeLiteral(Buffer.isBuffer(sent) ? `\\x${sent.toString('hex')}` : String(sent));
};

/**
 * A database that explains each statement while it runs it, in the transaction of `client`. Models are stand-ins: they read by
 * primary key.
 *
 * @param {pg.Client} client in a transaction
 * @param {(explained: Explained) => void} onExplained
 */
export const explainDatabase = (client, onExplained) => {
  /** @type {Map<string, number>} */
  const runs = new Map();
  let savepoints = 0;
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  /** One after the other, as a transaction needs. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  const inTurn = (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };

  /** @param {string} site @param {PlanMode} mode @param {string} text @param {readonly unknown[]} values */
  const explain = async (site, mode, text, values) => {
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    await client.query(
      `DEALLOCATE ALL; SAVEPOINT explained; SET LOCAL plan_cache_mode = force_${mode}_plan; PREPARE explained AS ${text}`,
    );
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE explained${given}`,
    );
    await client.query('ROLLBACK TO SAVEPOINT explained; DEALLOCATE ALL');
    onExplained({ site, mode, text, plan: rows[0]['QUERY PLAN'][0].Plan });
  };
  /** @param {string} site @param {import('@vat/db').DeclaredSql | ReturnType<typeof sqlOf>} statement */
  const run = (site, { text, values }) =>
    inTurn(async () => {
      const run = (runs.get(site + text) ?? 0) + 1;
      runs.set(site + text, run);
      if (UNPLANNED.test(text)) onExplained({ site, mode: 'custom', text, plan: null });
      else if (run <= EXPLAINED_RUNS) {
        await explain(site, 'custom', text, values);
        await explain(site, 'generic', text, values);
      }
      return client.query({ text, values });
    });

  /** @type {any} */
  const statements = {
    /** @param {TemplateStringsArray | ReturnType<typeof sqlOf>} query @param {unknown[]} values */
    $queryRaw: async (query, ...values) => (await run(callSite(), sqlOf(query, values))).rows,
    /** @param {TemplateStringsArray} query @param {unknown[]} values */
    $executeRaw: async (query, ...values) => (await run(callSite(), sqlOf(query, values))).rowCount,
    /** @param {((tx: unknown) => Promise<unknown>) | Promise<unknown>[]} work */
    $transaction: async (work) => {
      if (typeof work !== 'function') return Promise.all(work);
      savepoints += 1;
      const savepoint = `work_${savepoints}`;
      await inTurn(() => client.query(`SAVEPOINT ${savepoint}`));
      try {
        return await work(database);
      } catch (error) {
        await inTurn(() => client.query(`ROLLBACK TO SAVEPOINT ${savepoint}`));
        throw error;
      }
    },
  };
  const database = databaseOf(statements);
  return database;
};
