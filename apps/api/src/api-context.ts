import { type ConnectionSettings, type Connections, openConnections } from '@vat/composition';
import { createMetrics, type Logger, type Metrics, type Tracing } from '@vat/runtime';

/** What the features of an API process share: its connections, its clock and its log. */
export type ApiContext = Pick<Connections, 'db' | 'producer' | 'publishChange' | 'now'> & {
  /** Sends commands; they fail at once while Redis is away. */
  redis: Connections['producerRedis'];
  /** Receives published messages. */
  subscriberRedis: Connections['consumerRedis'];
  metrics: Metrics;
  log: Logger;
  /** Null while traces are off. */
  tracing: Tracing | null;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Must not be called before the server listens: only then is the port known. */
  baseUrl: () => string;
};

/** Callers get 503 within two seconds while Postgres is away, so a query may take less than that. */
const QUERY_TIMEOUT_MS = 1_500;

/** A query that fails after this many milliseconds has timed out. Slightly below the timeout, since timers are not exact. */
export const HUNG_AFTER_MS = QUERY_TIMEOUT_MS - 100;

/**
 * Opens the connections of an API process. Close in this order: `flushPageUpdates`, `closeRedis`, `closeDatabase`.
 */
export const createApiContext = (
  settings: ConnectionSettings,
  { log, tracing, stopping, baseUrl }: Pick<ApiContext, 'log' | 'tracing' | 'stopping' | 'baseUrl'>,
) => {
  const database = {
    keepOpen: settings.DATABASE_CONNECTIONS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    connectTimeoutMs: QUERY_TIMEOUT_MS,
    applicationName: 'vat-api',
  };
  const { db, producerRedis, consumerRedis, producer, publishChange, now, ...opened } = openConnections(
    settings,
    database,
    { log, tracing },
  );
  const context: ApiContext = {
    db,
    redis: producerRedis,
    subscriberRedis: consumerRedis,
    producer,
    publishChange,
    metrics: createMetrics('api'),
    log,
    tracing,
    stopping,
    baseUrl,
    now,
  };
  return { context, ...opened };
};
