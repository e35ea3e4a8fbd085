import { connectDatabase, type Database, readClock } from '@vat/db';
import type { PublishChange } from '@vat/domain';
import { connectRedis, createProducer, type Producer, publishPageUpdates } from '@vat/queues';
import { correctedClock, createMetrics, type Logger, type Metrics, type SettingsOf, throttledWarn } from '@vat/runtime';

type ConnectionSettings = SettingsOf<
  'api',
  'DATABASE_URL' | 'DATABASE_CONNECTIONS' | 'REDIS_URL' | 'REDIS_CA' | 'REDIS_PREFIX'
>;

/** What the features of an API process share: its connections, its clock and its log. */
export type ApiContext = {
  db: Database;
  /** Sends commands; they fail at once while Redis is away. */
  redis: ReturnType<typeof connectRedis>;
  /** Receives published messages. */
  subscriberRedis: ReturnType<typeof connectRedis>;
  producer: Producer;
  publishChange: PublishChange;
  metrics: Metrics;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Must not be called before the server listens: only then is the port known. */
  baseUrl: () => string;
  now: () => Date;
};

/** Callers get 503 within two seconds while Postgres is away, so a query may take less than that. */
const QUERY_TIMEOUT_MS = 1_500;

/** A query that fails after this many milliseconds has timed out. Slightly below the timeout, since timers are not exact. */
export const HUNG_AFTER_MS = QUERY_TIMEOUT_MS - 100;

/** A warning about a lasting problem is repeated after this long. */
export const REPEAT_WARNING_MS = 30_000;

/**
 * Opens the connections of an API process. `warmed` resolves when the database connections are open and the clock is compared. Close in this order:
 * `flushPageUpdates`, `closeRedis`, `closeDatabase`.
 */
export const createApiContext = (
  settings: ConnectionSettings,
  { log, stopping, baseUrl }: Pick<ApiContext, 'log' | 'stopping' | 'baseUrl'>,
): {
  context: ApiContext;
  warmed: Promise<void>;
  flushPageUpdates: () => void;
  closeRedis: () => Promise<void>;
  closeDatabase: () => Promise<void>;
} => {
  const {
    db,
    warmed,
    close: closeDatabase,
  } = connectDatabase({
    url: settings.DATABASE_URL,
    maxConnections: settings.DATABASE_CONNECTIONS,
    keepOpen: settings.DATABASE_CONNECTIONS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    connectTimeoutMs: QUERY_TIMEOUT_MS,
    applicationName: 'vat-api',
  });
  const clock = correctedClock({
    readTime: readClock(db),
    onOffset: (offsetMs) =>
      log.warn('The clock of this machine differs from that of Postgres.', { offset_ms: offsetMs }),
  });
  const { now } = clock;
  const onRedisError = throttledWarn(log, 'Redis is away.', REPEAT_WARNING_MS, now);
  const redis = connectRedis(settings.REDIS_URL, 'producer', onRedisError, settings.REDIS_CA);
  const subscriberRedis = connectRedis(settings.REDIS_URL, 'consumer', onRedisError, settings.REDIS_CA);
  const producer = createProducer(redis, settings.REDIS_PREFIX, now);
  const pageUpdates = publishPageUpdates(redis, settings.REDIS_PREFIX);
  return {
    context: {
      db,
      redis,
      subscriberRedis,
      producer,
      publishChange: pageUpdates.publish,
      metrics: createMetrics('api'),
      log,
      stopping,
      baseUrl,
      now,
    },
    warmed: Promise.all([warmed, clock.measured]).then(() => undefined),
    flushPageUpdates: pageUpdates.close,
    closeRedis: async () => {
      await producer.close();
      redis.disconnect();
      subscriberRedis.disconnect();
    },
    closeDatabase: () => {
      clock.close();
      return closeDatabase();
    },
  };
};
