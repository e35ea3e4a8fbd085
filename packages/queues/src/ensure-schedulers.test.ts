import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis } from './connect-redis.js';
import { createProducer } from './create-producer.js';
import { ensureSchedulers } from './ensure-schedulers.js';
import { maintenanceQueue } from './job-catalogue.js';

const HOUR_MS = 3_600_000;

let corner: RedisNamespace;
const closers: (() => Promise<unknown>)[] = [];
beforeAll(() => {
  corner = openRedisNamespace();
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await corner?.close();
});

/** A process with a schedule of its own. */
const start = (everyMs: number) => {
  const connection = connectRedis(corner.url, 'producer', () => undefined);
  const producer = createProducer(connection, corner.prefix);
  const seen = { losses: 0, errors: [] as unknown[] };
  const primed = ensureSchedulers({
    connection,
    producer,
    prefix: corner.prefix,
    capped: [],
    schedule: [{ queue: maintenanceQueue, id: 'audit', payload: { task: 'audit' }, everyMs }],
    onLoss: () => {
      seen.losses += 1;
      return Promise.resolve();
    },
    onError: (error) => seen.errors.push(error),
  });
  closers.push(async () => {
    await primed.close();
    await producer.close();
    connection.disconnect();
    await until('its connection to end', () => connection.status === 'end');
  });
  return seen;
};

test('processes with different schedules take each other for no loss; the last one started is right', async () => {
  const connection = connectRedis(corner.url, 'producer', () => undefined);
  await until('the connection', () => connection.status === 'ready');
  const monitor = await connection.monitor();
  closers.push(async () => {
    connection.disconnect();
    monitor.disconnect();
    await until('the connections to end', () => connection.status === 'end' && monitor.status === 'end');
  });
  let looks = 0;
  monitor.on('monitor', (_time, [command, key]: string[]) => {
    if (command?.toLowerCase() === 'get' && key === `${corner.prefix}:primed`) looks += 1;
  });
  const every = async () =>
    Number(await connection.hget(`${corner.prefix}:${maintenanceQueue.name}:repeat:audit`, 'every'));
  const bothCheckTwice = () => {
    looks = 0;
    return until('looks of both', () => looks >= 4);
  };

  const first = start(HOUR_MS);
  await until('the first to prime', () => first.losses === 1);
  await until('its schedule', async () => (await every()) === HOUR_MS);
  const second = start(2 * HOUR_MS);
  await until('the schedule of the second', async () => (await every()) === 2 * HOUR_MS);
  await bothCheckTwice();
  expect([first.losses, second.losses, await every()]).toEqual([1, 0, 2 * HOUR_MS]);

  await corner.redis.flush();
  await until('one of them to see the loss', () => first.losses + second.losses === 2);
  await bothCheckTwice();
  expect(first.losses + second.losses).toBe(2);
  expect(await every()).toBeGreaterThan(0);
  expect([...first.errors, ...second.errors]).toEqual([]);
});
