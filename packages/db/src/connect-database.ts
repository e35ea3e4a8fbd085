import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';
import { nameStatement } from './name-statement.js';

/** How a process uses Postgres. Times in milliseconds. */
export type DatabaseOptions = {
  url: string;
  maxConnections: number;
  /** A statement that takes longer fails; an API process keeps it below the two seconds it promises. */
  queryTimeoutMs: number;
  connectTimeoutMs: number;
  applicationName: string;
  /**
   * Connections opened at once and kept open; default none. A pool that is cold makes every query of a burst wait for a
   * connection of its own, and twenty of them made at the same time on a busy machine take longer than a caller may wait.
   */
  keepOpen?: number;
};

/** The adapter's type leaves out that a statement may have no name, which it and `pg` allow. */
type StatementNames = (statement: { sql: string }) => string;

/** The Prisma client; only this package knows it as such. */
export type Database = PrismaClient;

/** What a repository needs: the client or a transaction of it. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

/** Opens connections; while Postgres is away there are none, and they are made when they are needed. Never rejects. */
const warm = async (pool: pg.Pool, connections: number): Promise<void> => {
  const opened = await Promise.allSettled(Array.from({ length: connections }, () => pool.connect()));
  for (const connection of opened) if (connection.status === 'fulfilled') connection.value.release();
};

/** An open pool. `warmed` resolves when the connections to keep open are there or cannot be had. */
export type ConnectedDatabase = { db: Database; warmed: Promise<void>; close: () => Promise<void> };

/** Opens the pool without waiting for Postgres, so a process starts while it is away. */
export const connectDatabase = (options: DatabaseOptions): ConnectedDatabase => {
  const pool = new pg.Pool({
    connectionString: options.url,
    // adapter-pg drops the offset of a timestamptz: without UTC every time would shift by the server's zone.
    options: '-c TimeZone=UTC',
    application_name: options.applicationName,
    max: options.maxConnections,
    min: options.keepOpen ?? 0,
    connectionTimeoutMillis: options.connectTimeoutMs,
    query_timeout: options.queryTimeoutMs,
    statement_timeout: options.queryTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    // An idle connection that breaks is replaced at the next query, which reports what is wrong.
    onPoolError: () => undefined,
    statementNameGenerator: nameStatement() as StatementNames,
  });
  // The adapter listens only from the first query on.
  pool.on('error', () => undefined);
  const warmed = warm(pool, options.keepOpen ?? 0);
  const db = new PrismaClient({
    adapter,
    transactionOptions: { maxWait: options.connectTimeoutMs, timeout: options.queryTimeoutMs * 2 },
  });
  let closed = false;
  return {
    db,
    warmed,
    close: async () => {
      if (closed) return;
      closed = true;
      await db.$disconnect();
      // Prisma disposes of a pool that it has used; one that only was warmed is ended here.
      if (!pool.ending) await pool.end();
    },
  };
};

/** Resolves when Postgres answers; throws otherwise. */
export const pingDatabase = (db: Queryable) => async (): Promise<void> => {
  await db.$queryRaw`SELECT 1`;
};
