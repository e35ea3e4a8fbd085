// @ts-check
import { sqlOf } from '@vat/db';
import { callSite, databaseOf } from './statement-sites.mjs';

/**
 * @typedef {import('@vat/db').Columns} Columns
 * @typedef {{ name: string, dataTypeID: number, tableID: number, columnID: number }} Field
 * @typedef {{ types: Map<number, string>, nullable: Map<string, string> }} Catalogue
 *   `types`: names by object id. `nullable`: table and column by `tableID columnID`, without those that are NOT NULL
 */

/**
 * What Postgres says about the result of a statement, which is parsed and planned but not run.
 *
 * @param {import('pg').Client} client
 * @param {string} text
 * @returns {Promise<Field[]>} no fields for a statement without a result
 */
const describe = (client, text) =>
  new Promise((resolve, reject) => {
    /** @type {Field[]} */
    let fields = [];
    client.query({
      /** @param {any} connection the protocol connection of `pg` */
      submit: (connection) => {
        connection.parse({ text });
        connection.describe({ type: 'S' });
        connection.sync();
      },
      /** @param {{ fields: Field[] }} description */
      handleRowDescription: (description) => {
        fields = description.fields;
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(fields),
    });
  });

/** @param {import('pg').Client} client @returns {Promise<Catalogue>} */
export const readCatalogue = async (client) => {
  const types = await client.query('SELECT oid, typname FROM pg_type');
  const nullable = await client.query(`
    SELECT attrelid, attnum, attrelid::regclass || '.' || attname AS name FROM pg_attribute
    WHERE attnum > 0 AND NOT attnotnull AND attrelid IN (SELECT oid FROM pg_class WHERE relkind IN ('r', 'p'))`);
  return {
    types: new Map(types.rows.map(({ oid, typname }) => [oid, typname.replace(/^_(.*)/, '$1[]')])),
    nullable: new Map(nullable.rows.map(({ attrelid, attnum, name }) => [`${attrelid} ${attnum}`, name])),
  };
};

/** @param {Columns[string]} column */
const typeOf = (column) => (typeof column === 'string' ? column : column.type);

/**
 * How the declared columns differ from the result, a line each.
 *
 * @param {Catalogue} catalogue
 * @param {Columns} columns
 * @param {readonly Field[]} fields
 */
export const compareColumns = ({ types, nullable }, columns, fields) => {
  const unknown = Object.keys(columns).filter((name) => !fields.some((field) => field.name === name));
  const lines = unknown.map((name) => `column ${name} is not in the result`);
  for (const { name, dataTypeID, tableID, columnID } of fields) {
    const column = columns[name];
    const actual = types.get(dataTypeID);
    if (column === undefined) {
      lines.push(`column ${name} (${actual}) is not declared`);
      continue;
    }
    const [, declared, mark] = /^(.*?)([?!]?)$/.exec(typeOf(column)) ?? [];
    if (declared !== actual) lines.push(`column ${name} is ${actual}, not ${declared}`);
    const source = nullable.get(`${tableID} ${columnID}`);
    if (source && mark === '')
      lines.push(`column ${name} may be null in ${source}: declare ${declared}? or ${declared}!`);
    if (!source && mark === '!') lines.push(`column ${name} needs no "!"`);
  }
  return lines;
};

/** @type {Record<string, (flag: boolean) => unknown>} */
const SAMPLES = {
  bool: (flag) => flag,
  bytea: () => Buffer.alloc(32),
  int4: () => 0,
  jsonb: () => ({}),
  // The state of a watch decides which statements follow.
  text: () => 'paused',
  timestamptz: () => new Date(0),
  uuid: () => '00000000-0000-0000-0000-000000000000',
};

/** @param {Columns} columns @param {boolean} flag the value of all booleans */
const sampleRow = (columns, flag) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => {
      const type = typeOf(column).replace(/[?!]$/, '');
      const value = SAMPLES[type.replace('[]', '')]?.(flag);
      return [name, type.endsWith('[]') ? [value] : value];
    }),
  );

/**
 * A stand-in for the database that describes each statement instead of running it. The results are made up, so that functions
 * go on to their later statements: `rows` is 'none', or one row in which all booleans are 'true' or 'false'.
 *
 * @param {import('pg').Client} client
 * @param {Catalogue} catalogue
 * @param {'none' | 'true' | 'false'} rows
 * @param {(site: string, faults: string[]) => void} onDescribed `site`: file:line of the call in the build of packages/db
 */
export const describeDatabase = (client, catalogue, rows, onDescribed) => {
  const changed = new Set();
  /** @type {Promise<unknown>} */
  let described = Promise.resolve();

  /**
   * One statement after the other. Without `columns` only whether Postgres accepts it is verified.
   *
   * @param {string} site @param {string} text @param {Columns} [columns]
   */
  const verify = (site, text, columns) => {
    described = described
      .then(() => describe(client, text))
      .then((fields) => onDescribed(site, columns ? compareColumns(catalogue, columns, fields) : []))
      .catch((error) => onDescribed(site, [String(error)]));
    return described;
  };
  /** @type {any} */
  const statements = {
    /** @param {import('@vat/db').DeclaredSql} statement */
    $queryRaw: async (statement) => {
      await verify(callSite(), statement.text, statement.columns);
      return rows === 'none' ? [] : [sampleRow(statement.columns, rows === 'true')];
    },
    /** @param {TemplateStringsArray} strings @param {unknown[]} values */
    $executeRaw: async (strings, ...values) => {
      const site = callSite();
      await verify(site, sqlOf(strings, values).text);
      // Some functions repeat a statement until it changes nothing.
      const affected = rows === 'none' || changed.has(site) ? 0 : 1;
      changed.add(site);
      return affected;
    },
    /** @param {((tx: unknown) => Promise<unknown>) | Promise<unknown>[]} work */
    $transaction: (work) => (typeof work === 'function' ? work(database) : Promise.all(work)),
  };
  const database = databaseOf(statements);
  return database;
};
