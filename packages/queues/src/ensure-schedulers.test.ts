import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { Redis, type RedisKey } from 'ioredis';
import { connectRedis } from './connect-redis.js';
import { createProducer } from './create-producer.js';
import { ensureSchedulers } from './ensure-schedulers.js';
import { maintenanceQueue } from './job-catalogue.js';

const HOUR_MS = 3_600_000;

let namespace: RedisNamespace;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  namespace = await openRedisNamespace();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await namespace?.close();
});

/** Starts a process with its own schedule. */
const start = (everyMs: number, onLoss: () => Promise<void> = () => Promise.resolve(), ownTime = Date.now) => {
  const connection = connectRedis(namespace.url, 'producer', () => undefined);
  const producer = createProducer(connection, namespace.prefix);
  const seen = { losses: 0, checks: 0, errors: [] as unknown[] };
  const get = connection.get.bind(connection);
  connection.get = async (key: RedisKey) => {
    const value = await get(key);
    if (key === `${namespace.prefix}:primed`) seen.checks += 1;
    return value;
  };
  const schedulers = ensureSchedulers({
    connection,
    producer,
    prefix: namespace.prefix,
    capped: [],
    schedule: [{ queue: maintenanceQueue, id: 'audit', payload: { task: 'audit' }, everyMs }],
    onLoss: () => {
      seen.losses += 1;
      return onLoss();
    },
    onError: (error) => seen.errors.push(error),
    ownTime,
  });
  closers.push(async () => {
    await schedulers.close();
    await producer.close();
    connection.disconnect();
    await until('its connection to end', () => connection.status === 'end');
  });
  return seen;
};

test('processes with different schedules do not cause a restore; the schedule of the process started last applies', async () => {
  const connection = new Redis(namespace.url);
  await until('the connection', () => connection.status === 'ready');
  closers.push(async () => {
    connection.disconnect();
    await until('the connection to end', () => connection.status === 'end');
  });
  const every = async () =>
    Number(await connection.hget(`${namespace.prefix}:${maintenanceQueue.name}:repeat:audit`, 'every'));
  const bothCheckTwice = () => {
    const before = [first, second].map(({ checks }) => checks);
    return until('checks of both', () => [first, second].every(({ checks }, n) => checks >= (before[n] ?? 0) + 2));
  };

  const first = start(HOUR_MS);
  await until('the restore by the first', () => first.losses === 1);
  await until('its schedule', async () => (await every()) === HOUR_MS);
  const second = start(2 * HOUR_MS);
  await until('the schedule of the second', async () => (await every()) === 2 * HOUR_MS);
  await bothCheckTwice();
  expect([first.losses, second.losses, await every()]).toEqual([1, 0, 2 * HOUR_MS]);

  await namespace.redis.flush();
  const errors = () => [...first.errors, ...second.errors];
  await until('one of them to restore', () => first.losses + second.losses >= 2 || errors().length > 0);
  await bothCheckTwice();
  expect(errors()).toEqual([]);
  expect(first.losses + second.losses).toBe(2);
  expect(await every()).toBeGreaterThan(0);
  expect(errors()).toEqual([]);
});

test('a shorter interval does not keep the offset of the longer one, which would delay a late run by as much', async () => {
  const key = `${namespace.prefix}:${maintenanceQueue.name}:repeat:audit`;
  const stored = async () => {
    const redis = new Redis(namespace.url);
    const [every, offset] = await redis.hmget(key, 'every', 'offset').finally(() => redis.quit());
    return { every: Number(every), offset: Number(offset ?? 0) };
  };
  start(24 * HOUR_MS);
  await until('the first schedule', async () => (await stored()).every === 24 * HOUR_MS);
  start(100);
  await until('the second schedule', async () => (await stored()).every === 100);
  expect((await stored()).offset).toBeLessThan(100);
});

test('a restore that fails is tried again at the next check, without waiting for its lock to expire', async () => {
  const failure = new Error('no database');
  const one = start(HOUR_MS, async () => {
    if (one.losses === 1) throw failure;
  });
  await until('the second restore', () => one.losses === 2, 5_000);
  await until('the marker', async () => (await namespace.redis.keys()).includes(`${namespace.prefix}:primed`));
  expect(one.errors).toEqual([failure]);
});

test('a job that was to run after its interval, by a clock that was set back, runs now', async () => {
  let aheadMs = 0;
  const one = start(HOUR_MS, undefined, () => Date.now() - aheadMs);
  await until('the restore', () => one.losses === 1);
  const keys = async () => (await namespace.redis.keys()).filter((key) => key.includes(':repeat:audit:'));
  const [first] = await until('the first run', async () => {
    const found = await keys();
    return found.length > 0 && found;
  });
  aheadMs = 2 * HOUR_MS;
  await until('another run', async () => (await keys()).some((key) => key !== first));
  expect(one.errors).toEqual([]);
});

test.each([
  ['the next run of a job', ':repeat:audit:*'],
  ['a repeating job as a whole', ':repeat*'],
])('%s that Redis has lost is put back', async (_what, lost) => {
  let aheadMs = 0;
  const redis = new Redis(namespace.url);
  const base = `${namespace.prefix}:${maintenanceQueue.name}`;
  const one = start(HOUR_MS, undefined, () => Date.now() + aheadMs);
  try {
    await until('the restore', () => one.losses === 1);
    await until('the next run', async () => (await redis.zcard(`${base}:repeat`)) > 0);
    await until('the check of the runs', async () => (await redis.keys(`${base}:repeat:audit:*`)).length > 0);
    await redis.del(...(await redis.keys(`${base}${lost}`)), `${base}:delayed`, `${base}:wait`);
    aheadMs = 2 * HOUR_MS;
    await until('another run', async () => (await redis.keys(`${base}:repeat:audit:*`)).length > 0);
    expect(await redis.zrange(`${base}:repeat`, 0, '-1')).toEqual(['audit']);
    expect(one.errors).toEqual([]);
  } finally {
    redis.disconnect();
  }
});

test('a process adds no repeating job while another one restores, which would remove what that one adds', async () => {
  const redis = new Redis(namespace.url);
  const lock = `${namespace.prefix}:priming`;
  await redis.set(lock, 'another process');
  try {
    const one = start(HOUR_MS);
    await until('some checks', () => one.checks >= 4);
    expect(await redis.keys(`${namespace.prefix}:${maintenanceQueue.name}:repeat*`)).toEqual([]);
    await redis.del(lock);
    await until('the restore', () => one.losses === 1);
  } finally {
    redis.disconnect();
  }
});
