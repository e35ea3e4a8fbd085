import { type LookupOutcome, newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer } from './create-producer.js';
import { upstreamQueue } from './job-catalogue.js';
import { createLookupGates, readDownStates } from './lookup-gates.js';
import { startConsumer } from './start-consumer.js';

const SILENCE: LookupOutcome = { kind: 'no_answer', outcome: 'timeout', code: null, scope: null, detail: null };
const ANSWER: LookupOutcome = { kind: 'rejected', code: 'INVALID_INPUT' };
const DELAYS = [5_000, 60_000];

let namespace: RedisNamespace;
let connections: RedisConnection[];
const raise = (error: unknown): never => {
  throw error;
};
beforeAll(async () => {
  namespace = await openRedisNamespace();
  connections = (['producer', 'producer', 'consumer'] as const).map((role) => connectRedis(namespace.url, role, raise));
  await until('Redis', () => connections.every(({ status }) => status === 'ready'));
});
afterAll(async () => {
  for (const connection of connections) connection.disconnect();
  await namespace.close();
});
beforeEach(() => namespace.redis.flush());

/** The gates in two processes, whose clock is `at`. */
const processes = (delays: readonly number[] = DELAYS) => {
  const clock = { at: 1_000_000 };
  const changes: string[] = [];
  const gates = connections.slice(0, 2).map((connection, n) =>
    createLookupGates({
      ...{ connection, prefix: namespace.prefix, probeDelaysMs: delays, now: () => new Date(clock.at) },
      onChange: (memberState, down) => changes.push(`${n} ${memberState} ${down ? 'down' : 'up'}`),
    }),
  ) as [ReturnType<typeof createLookupGates>, ReturnType<typeof createLookupGates>];
  const enter = async (n: 0 | 1, memberState: 'DE' | 'FR' = 'DE') =>
    gates[n].enter(memberState, await gates[n].read(memberState));
  return { clock, changes, gates, enter };
};

test('what one process learns the others know, and one of them probes', async () => {
  const { clock, changes, gates, enter } = processes();
  await Promise.all([0, 1, 0, 1, 0].map((n) => gates[n as 0 | 1].report('DE', SILENCE)));
  expect(await enter(0)).toBe(5_000);
  expect(await enter(1)).toBe(5_000);
  expect(await enter(1, 'FR')).toBe(0);
  clock.at += 5_000;
  const entered = await Promise.all([enter(0), enter(1), enter(0), enter(1)]);
  expect(entered.filter((waitMs) => waitMs === 0)).toHaveLength(1);
  await gates[1].report('DE', ANSWER);
  expect([await enter(0), await enter(1)]).toEqual([0, 0]);
  expect(changes.map((change) => change.slice(2))).toEqual(['DE down', 'DE up']);
});

test('others read which member states are down', async () => {
  const { gates } = processes();
  const [connection] = connections as [RedisConnection];
  const read = async () => [...((await readDownStates(connection, namespace.prefix)()) ?? ['unknown'])];
  for (let n = 0; n < 4; n += 1) await gates[0].report('PT', SILENCE);
  expect(await read()).toEqual([]);
  await gates[0].report('PT', SILENCE);
  expect(await read()).toEqual(['PT']);
  await gates[0].report('PT', ANSWER);
  expect(await read()).toEqual([]);
  const closed = connectRedis(namespace.url, 'producer', () => undefined);
  closed.disconnect();
  expect(await readDownStates(closed, namespace.prefix)()).toBeNull();
});

test('the answer to a lookup that began before the gate was there removes it', async () => {
  const { gates, enter } = processes();
  expect(await enter(0)).toBe(0);
  for (let n = 0; n < 5; n += 1) await gates[0].report('DE', SILENCE);
  await gates[0].report('DE', ANSWER);
  expect(await enter(1)).toBe(0);
});

test('a gate that was removed after it was read pauses nothing, and its removal ends the pause', async () => {
  const { gates, enter } = processes();
  const [connection] = connections as [RedisConnection];
  const pauseMs = () => connection.pttl(`${namespace.prefix}:${upstreamQueue('DE').name}:limiter`);
  const goDown = async () => {
    for (let n = 0; n < 5; n += 1) await gates[0].report('DE', SILENCE);
  };
  await goDown();
  const asRead = await gates[1].read('DE');
  await gates[0].report('DE', ANSWER);
  expect(await gates[1].enter('DE', asRead)).toBe(0);
  expect(await pauseMs()).toBeLessThan(0);
  await goDown();
  expect(await enter(1)).toBe(5_000);
  expect(await pauseMs()).toBeGreaterThan(0);
  await gates[0].report('DE', ANSWER);
  expect(await pauseMs()).toBeLessThan(0);
});

test('without the data of Redis, and without Redis, every gate is open', async () => {
  const { gates, enter } = processes();
  for (let n = 0; n < 5; n += 1) await gates[0].report('DE', SILENCE);
  await namespace.redis.flush();
  expect(await enter(1)).toBe(0);
  const away = connectRedis('redis://127.0.0.1:1', 'producer', () => undefined);
  const alone = createLookupGates({
    ...{ connection: away, prefix: namespace.prefix, probeDelaysMs: DELAYS, now: () => new Date() },
    onChange: raise,
  });
  await alone.report('DE', SILENCE);
  expect(await alone.enter('DE', await alone.read('DE'))).toBe(0);
  away.disconnect();
});

test('jobs of a gate that is closed stay where they are, and follow each other when a probe is answered', async () => {
  const [producing, , consuming] = connections as [RedisConnection, RedisConnection, RedisConnection];
  const producer = createProducer(producing, namespace.prefix);
  const definition = upstreamQueue('DE');
  await producer.assertGlobalConcurrency(definition);
  const gates = createLookupGates({
    ...{ connection: producing, prefix: namespace.prefix, probeDelaysMs: [150], now: () => new Date() },
    onChange: () => undefined,
  });
  const lookups: { at: number; answered: boolean }[] = [];
  let taken = 0;
  let answers = false;
  const consumers = [1, 2].map(() =>
    startConsumer(
      definition,
      async () => {
        taken += 1;
        const waitMs = await gates.enter('DE', await gates.read('DE'));
        if (waitMs > 0) return { pauseQueueMs: null };
        lookups.push({ at: performance.now(), answered: answers });
        await gates.report('DE', answers ? ANSWER : SILENCE);
        return answers ? undefined : { again: new Date(Date.now() + 3_600_000) };
      },
      {
        ...{ connection: consuming, prefix: namespace.prefix, onJobError: raise, onError: raise },
        stopping: new AbortController().signal,
      },
    ),
  );
  try {
    const jobs = Array.from({ length: 500 }, () => ({ payload: { request_id: newUuid(), turn: 'a:background' } }));
    await producer.enqueueAll(definition, jobs);
    await until('three probes', () => lookups.length >= 5 + 2 + 3);
    // A worker with two places tries a second job once for each probe, and finds the gate closed.
    expect(taken).toBeLessThan(10 * lookups.length);
    answers = true;
    await until('all lookups', () => lookups.filter(({ answered }) => answered).length >= 400);
    const [first, ...rest] = lookups.filter(({ answered }) => answered).map(({ at }) => at);
    expect((rest[100] ?? 0) - (first ?? 0)).toBeLessThan(5_000);
  } finally {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await producer.close();
  }
});
