import { setImmediate as nextTurn } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';
import { nameStatement } from './name-statement.js';
import { prepareConnection, translatesNames } from './prepare-connection.js';
import { query } from './query.js';
import { retireConnections } from './retire-connections.js';
import { type Queryable, statementsOn } from './statements-on.js';

/** How a process uses Postgres. Times in milliseconds. */
export type DatabaseOptions = {
  url: string;
  maxConnections: number;
  /** A statement that takes longer fails. API processes use less than the two seconds within which they must respond. */
  queryTimeoutMs: number;
  connectTimeoutMs: number;
  applicationName: string;
  /** How long a transaction may do nothing before Postgres ends it, see {@link IDLE_TRANSACTION_MS}. */
  idleTransactionMs?: number;
  /**
   * Connections that are opened at start and stay open; default none. Without them each query of a first burst waits for a
   * new connection, and opening twenty at once on a busy machine takes longer than a caller may wait.
   */
  keepOpen?: number;
};

/**
 * The costs of pages and rows, a tenth of Postgres' defaults (of pages in memory or on an SSD). Plans stay the same, but making
 * a plan counts ten times as much beside running it. With the defaults Postgres underestimates that: it would plan each
 * statement of a partitioned table each time, to leave out partitions that the prepared plan skips anyway, and a check would take
 * twice the time of the database. See docs/decisions/0022.
 */
export const PLANNER_COSTS = {
  random_page_cost: '0.11',
  seq_page_cost: '0.1',
  cpu_tuple_cost: '0.001',
  cpu_index_tuple_cost: '0.0005',
};

/**
 * Postgres ends a transaction that does nothing for this long: its process stands still, or its machine or network is gone without
 * a word. Otherwise its locks, such as on the usage of an account, would last until TCP notices, which takes hours, or for as long as
 * the process is stopped. Shorter than the minute after which an Idempotency-Key must be free again. No transaction pauses so long.
 */
export const IDLE_TRANSACTION_MS = 30_000;

/** The adapter's type does not allow `undefined` (no name), but the adapter and `pg` do. */
type StatementNames = (statement: { sql: string }) => string;

export type { Queryable } from './statements-on.js';

/** The Prisma client, whose raw statements outside of transactions run without it. Other packages must not depend on its type. */
export type Database = Omit<PrismaClient, keyof Queryable> & Queryable & { $ping: () => Promise<void> };

/** Opens connections. When Postgres is unavailable, they are opened on demand later. Never rejects. */
const warm = async (pool: pg.Pool, connections: number): Promise<void> => {
  // Until then a process that starts is busy with itself, and on a busy machine for longer than a connection may take: the
  // deadline would pass although Postgres has answered, and the first calls would find no connection.
  await nextTurn();
  const opened = await Promise.allSettled(Array.from({ length: connections }, () => pool.connect()));
  for (const connection of opened) if (connection.status === 'fulfilled') connection.value.release();
};

/** An open pool. `warmed` resolves when the connections to keep open are open, or could not be opened. */
export type ConnectedDatabase = { db: Database; warmed: Promise<void>; close: () => Promise<void> };

/** Opens the pool without waiting for Postgres, so that a process starts while it is unavailable. */
export const connectDatabase = (options: DatabaseOptions): ConnectedDatabase => {
  const named = nameStatement(() => performance.now());
  // False before the first connection. All connections have the same address and therefore lead to the same kind of server.
  let namesWork = false;
  const name = (statement: { sql: string }) => (namesWork ? named(statement) : undefined);
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.maxConnections,
    min: options.keepOpen ?? 0,
    connectionTimeoutMillis: options.connectTimeoutMs,
    query_timeout: options.queryTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // adapter-pg drops the offset of a timestamptz: without UTC every time would shift by the server's zone.
    onConnect: async (client) => {
      const direct = await prepareConnection(client, {
        ...PLANNER_COSTS,
        statement_timeout: String(options.queryTimeoutMs),
        idle_in_transaction_session_timeout: String(options.idleTransactionMs ?? IDLE_TRANSACTION_MS),
      });
      namesWork = direct || (await translatesNames(client));
    },
  });
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    // A broken idle connection is replaced at the next query, which reports the error.
    onPoolError: () => undefined,
    statementNameGenerator: name as StatementNames,
  });
  // The adapter listens only from the first query on.
  pool.on('error', () => undefined);
  retireConnections(pool, () => performance.now());
  const warmed = warm(pool, options.keepOpen ?? 0);
  const prisma = new PrismaClient({
    adapter,
    transactionOptions: { maxWait: options.connectTimeoutMs, timeout: options.queryTimeoutMs * 2 },
  });
  // Properties of the object itself: set on the client they would be those of its transactions as well.
  const own = { ...statementsOn(pool, name), $transaction: prisma.$transaction.bind(prisma), $ping: pingOver(pool) };
  const db = Object.create(prisma, Object.getOwnPropertyDescriptors(own)) as Database;
  let closed = false;
  return {
    db,
    warmed,
    close: async () => {
      if (closed) return;
      closed = true;
      await prisma.$disconnect();
      // Prisma ends a pool that it has used; a pool without queries is ended here.
      if (!pool.ending) await pool.end();
    },
  };
};

/**
 * Resolves when Postgres responds: to a statement of its own, or, while all connections are in use, to somebody else's. Without
 * the latter a process whose callers are many would be called unreachable, and its load would fall on the other ones.
 */
const pingOver = (pool: pg.Pool): (() => Promise<void>) => {
  const waiting = new Set<() => void>();
  pool.on('release', (error) => {
    if (!error) for (const answered of waiting) answered();
  });
  return () =>
    new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        waiting.delete(answered);
        settle();
      };
      const answered = () => end(resolve);
      waiting.add(answered);
      pool.query('SELECT').then(answered, (error: unknown) => end(() => reject(error)));
    });
};

/** Resolves when Postgres responds; throws otherwise. */
export const pingDatabase = (db: Database) => (): Promise<void> => db.$ping();

/** Throws when Postgres does not respond, or has no tables. */
export const readTables = (db: Queryable) => async (): Promise<void> => {
  await query(db, { id: 'uuid' })`SELECT id FROM account LIMIT 1`;
};

/** The time of Postgres's clock, which all processes share. */
export const readClock = (db: Queryable) => async (): Promise<Date> => {
  const [row] = await query(db, { at: 'timestamptz' })`SELECT clock_timestamp() AS at`;
  if (!row) throw new Error('Postgres returned no time');
  return row.at;
};
