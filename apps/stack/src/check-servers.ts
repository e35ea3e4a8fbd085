import { Redis } from 'ioredis';
import pg from 'pg';
import { StartupError } from './startup-error.js';

const TIMEOUT_MS = 5_000;

// Never the whole address: it holds the password.
const place = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

const reasonOf = (error: unknown): string => {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: Error[] };
  // A name with several addresses fails with an AggregateError whose own message is empty.
  return message || errors?.[0]?.message || code || 'unknown error';
};

/** Connects to the Postgres of DATABASE_URL once. Throws StartupError that names the place and the reason. */
export const checkDatabase = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    throw new StartupError(`DATABASE_URL (${place(url)}) does not answer: ${reasonOf(error)}`);
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Connects to the Redis of REDIS_URL once. Throws StartupError that names the place and the reason. */
export const checkRedis = async (url: string): Promise<void> => {
  const redis = new Redis(url, {
    ...{ lazyConnect: true, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, disconnectTimeout: 1 },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  });
  let connection: Error | undefined;
  redis.on('error', (error: Error) => {
    connection = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw new StartupError(`REDIS_URL (${place(url)}) does not answer: ${reasonOf(connection ?? error)}`);
  } finally {
    redis.disconnect();
  }
};
