import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.js';

/** How a process uses Postgres. Times in milliseconds. */
export type DatabaseOptions = {
  url: string;
  maxConnections: number;
  /** A statement that takes longer fails; an API process keeps it below the two seconds it promises. */
  queryTimeoutMs: number;
  connectTimeoutMs: number;
  applicationName: string;
};

/** The Prisma client; only this package knows it as such. */
export type Database = PrismaClient;

/** What a repository needs: the client or a transaction of it. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

/** Opens the pool lazily: connecting happens at the first query, so a process starts while Postgres is away. */
export const connectDatabase = (options: DatabaseOptions): { db: Database; close: () => Promise<void> } => {
  const adapter = new PrismaPg(
    {
      connectionString: options.url,
      // adapter-pg drops the offset of a timestamptz: without UTC every time would shift by the server's zone.
      options: '-c TimeZone=UTC',
      application_name: options.applicationName,
      max: options.maxConnections,
      connectionTimeoutMillis: options.connectTimeoutMs,
      query_timeout: options.queryTimeoutMs,
      statement_timeout: options.queryTimeoutMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    },
    // An idle connection that breaks is replaced at the next query, which reports what is wrong.
    { onPoolError: () => undefined },
  );
  const db = new PrismaClient({
    adapter,
    transactionOptions: { maxWait: options.connectTimeoutMs, timeout: options.queryTimeoutMs * 2 },
  });
  return { db, close: () => db.$disconnect() };
};
