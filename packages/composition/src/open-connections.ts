import { connectDatabase, explainDatabaseFailure, readClock, readTables } from '@vat/db';
import { connectRedis, createProducer, findRedisFaults, publishPageUpdates, traceSends } from '@vat/queues';
import { correctedClock, errorFields, type Logger, type SettingsOf, type Tracing, throttledWarn } from '@vat/runtime';

export type ConnectionSettings = SettingsOf<
  'api',
  'DATABASE_URL' | 'DATABASE_CONNECTIONS' | 'REDIS_URL' | 'REDIS_CA' | 'REDIS_PREFIX'
>;

type DatabaseOptions = Omit<Parameters<typeof connectDatabase>[0], 'url' | 'maxConnections'>;

export type Connections = ReturnType<typeof openConnections>;

/**
 * Connects a process to Postgres and Redis, and corrects its clock by that of Postgres. `warmed` resolves when the connections
 * to be opened at the start are open and the clock is compared. Close in this order: `closeRedis`, `closeDatabase`.
 */
export const openConnections = (
  settings: ConnectionSettings,
  database: DatabaseOptions,
  { log, tracing }: { log: Logger; tracing: Tracing | null },
) => {
  const {
    db,
    warmed,
    close: closeDatabase,
  } = connectDatabase({ url: settings.DATABASE_URL, maxConnections: settings.DATABASE_CONNECTIONS, ...database });
  const clock = correctedClock({
    readTime: readClock(db),
    onOffset: (offsetMs) =>
      log.warn('The clock of this machine differs from that of Postgres.', { offset_ms: offsetMs }),
    after: warmed,
  });
  const { now } = clock;
  let closed = false;
  warmed.then(readTables(db)).catch((error: unknown) => {
    if (!closed) log.error(explainDatabaseFailure(error) ?? 'Postgres cannot be read.', errorFields(error));
  });
  const onRedisError = throttledWarn(log, 'Redis is away.', now);
  const connect = (use: 'producer' | 'consumer') =>
    connectRedis(settings.REDIS_URL, use, onRedisError, settings.REDIS_CA);
  /** Sends commands; they fail at once while Redis is away. */
  const producerRedis = connect('producer');
  producerRedis.once('ready', async () => {
    for (const fault of await findRedisFaults(producerRedis)) log.error(fault);
  });
  /** Waits for jobs, or receives published messages. */
  const consumerRedis = connect('consumer');
  const untraced = createProducer(producerRedis, settings.REDIS_PREFIX, now);
  const producer = tracing ? traceSends(tracing, untraced) : untraced;
  const pageUpdates = publishPageUpdates(producerRedis, settings.REDIS_PREFIX);
  return {
    db,
    producerRedis,
    consumerRedis,
    producer,
    publishChange: pageUpdates.publish,
    flushPageUpdates: pageUpdates.close,
    now,
    clockMeasured: clock.measured,
    warmed: Promise.all([warmed, clock.measured]).then(() => undefined),
    closeRedis: async (): Promise<void> => {
      await producer.close();
      producerRedis.disconnect();
      consumerRedis.disconnect();
    },
    closeDatabase: (): Promise<void> => {
      closed = true;
      clock.close();
      return closeDatabase();
    },
  };
};
