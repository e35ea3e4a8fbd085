import { newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { Queue, Worker } from 'bullmq';
import fc from 'fast-check';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { type PriorityClass, type RequestJob, upstreamQueue } from './job-catalogue.js';
import { createTurns, turnOf } from './turns.js';

let namespace: RedisNamespace;
let connection: RedisConnection;
let producer: Producer;
let queue: Queue;
let worker: Worker<RequestJob>;
const definition = upstreamQueue('DE');
beforeAll(async () => {
  namespace = await openRedisNamespace();
  connection = connectRedis(namespace.url, 'consumer', (error) => {
    throw error;
  });
  producer = createProducer(connection, namespace.prefix);
  await until('Redis', () => connection.status === 'ready');
  const options = { connection, prefix: namespace.prefix };
  queue = new Queue(definition.name, options);
  // Without a handler a worker takes jobs only when it is asked to, and its pauses between empty queues do not count.
  worker = new Worker<RequestJob>(definition.name, undefined, { ...options, drainDelay: 0.01, skipStalledCheck: true });
});
afterAll(async () => {
  await worker.close();
  await queue.close();
  await producer.close();
  connection.disconnect();
  await namespace.close();
});
beforeEach(() => namespace.redis.flush());

type Arrival = { who: string; priority: PriorityClass };
const names = new Map<string, string>();

/** Adds jobs of accounts as the service does; each account and class has its own name in the results. */
const add = (arrivals: readonly Arrival[]): Promise<void> =>
  producer.enqueueAll(
    definition,
    arrivals.map(({ who, priority }) => {
      const id = newUuid();
      names.set(id, `${who} ${priority}`);
      return { payload: { request_id: id, turn: turnOf(who, priority) } };
    }),
  );

/** Looks up the next `count` jobs, as a consumer does; returns their names in order. */
const lookUp = async (count: number): Promise<string[]> => {
  const turns = createTurns(connection);
  const done: string[] = [];
  while (done.length < count) {
    const job = await worker.getNextJob('token', { block: false });
    if (!job) break;
    expect(await turns.leave(queue, String(job.data.turn), String(job.id), true)).toBeNull();
    done.push(String(names.get(job.data.request_id)));
    await job.moveToCompleted(null, 'token', false);
  }
  return done;
};
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const direct = (who: string): Arrival => ({ who, priority: 'interactive' });
/** A direct call of an account whose job is about to be added. */
const placed = (who: string) => ({ turn: turnOf(who, 'interactive'), id: newUuid() });

test('a call of another account is looked up next, however many calls of one account wait', async () => {
  await add(times(120, direct('flood')));
  await lookUp(4);
  await add([direct('other')]);
  expect(await lookUp(5)).toContain('other interactive');
});

test.each<PriorityClass>(['interactive', 'background', 'batch', 'watch'])(
  'accounts take turns among %s jobs',
  async (priority) => {
    await add(times(30, { who: 'a', priority }));
    await add(times(3, { who: 'b', priority }));
    await add(times(3, { who: 'c', priority }));
    const first = await lookUp(9);
    for (const who of ['a', 'b', 'c']) expect(first.filter((name) => name === `${who} ${priority}`)).toHaveLength(3);
  },
);

test('direct calls go before lines and watches that wait', async () => {
  await add(times(12, { who: 'importer', priority: 'batch' as const }));
  await add(times(12, { who: 'watcher', priority: 'watch' as const }));
  await add([direct('caller'), direct('caller')]);
  expect(await lookUp(2)).toEqual(['caller interactive', 'caller interactive']);
});

test.each<PriorityClass>(['background', 'batch', 'watch'])(
  'a %s job is looked up beside endless direct calls',
  async (priority) => {
    await add(times(10, direct('first')));
    await add([{ who: 'patient', priority }]);
    let waited = 0;
    for (let n = 0; ; n += 1) {
      // As many calls arrive as are looked up, each of another account.
      await add([direct(`caller ${n}`)]);
      const [done] = await lookUp(1);
      if (done === `patient ${priority}`) break;
      waited += 1;
      expect(waited).toBeLessThan(24);
    }
  },
);

test('a line that waits beside endless lines of others keeps its place', async () => {
  await add(times(12, { who: 'large', priority: 'batch' as const }));
  await add([{ who: 'small', priority: 'batch' }]);
  expect(await lookUp(2)).toEqual(['large batch', 'small batch']);
});

test('no account waits for more than its turn, whatever arrives (any order of arrivals)', async () => {
  const arrival = fc.record({
    who: fc.constantFrom('a', 'b', 'c', 'd'),
    priority: fc.constantFrom<PriorityClass>('interactive', 'background', 'batch', 'watch'),
    count: fc.integer({ min: 1, max: 15 }),
  });
  const step = fc.oneof(arrival, fc.record({ lookups: fc.integer({ min: 1, max: 10 }) }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      await namespace.redis.flush();
      /** Waiting jobs by name, each with the jobs of its class that were looked up since it arrived as the only one of its account. */
      const waiting = new Map<string, number>();
      const before = new Map<string, Map<string, number>>();
      const check = (name: string) => {
        const [, priority] = name.split(' ');
        for (const [other, overtaken] of before) {
          if (other === name || other.split(' ')[1] !== priority) continue;
          overtaken.set(name, (overtaken.get(name) ?? 0) + 1);
          // A waiting first job lets every other account of its class go first at most as often as it had jobs there, once each.
          expect(Math.max(...overtaken.values())).toBeLessThanOrEqual(16);
        }
        before.delete(name);
        waiting.set(name, (waiting.get(name) ?? 1) - 1);
        if ((waiting.get(name) ?? 0) > 0) before.set(name, new Map());
      };
      for (const next of steps) {
        if ('lookups' in next) {
          for (const name of await lookUp(next.lookups)) check(name);
          continue;
        }
        const name = `${next.who} ${next.priority}`;
        if ((waiting.get(name) ?? 0) === 0) before.set(name, new Map());
        waiting.set(name, (waiting.get(name) ?? 0) + next.count);
        await add(times(next.count, { who: next.who, priority: next.priority }));
      }
      for (const name of await lookUp(1_000)) check(name);
      expect([...waiting.values()].every((count) => count === 0)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('calls of one burst have their ranks, although none of them is in the queue yet', async () => {
  const turns = createTurns(connection);
  const burst = await Promise.all(Array.from({ length: 20 }, () => turns.take(queue, [placed('flood')])));
  expect(new Set(burst.flat()).size).toBe(20);
  expect(await turns.take(queue, [placed('other')])).toEqual([1]);
});

test('places whose jobs never came, as after Redis did not answer in time, do not hold back the next job of their account', async () => {
  const [turns, taken] = [createTurns(connection), queue.toKey('taken')];
  const count = () => connection.hget(queue.toKey('turns'), turnOf('a', 'interactive'));
  // The queue is not empty for as long as a batch of another account is looked up.
  await add([direct('other'), direct('a')]);
  const lost = times(30, 'a').map(placed);
  await turns.take(queue, lost);
  // As after a connection was replaced, over which the first time was sent.
  await turns.take(queue, lost);
  expect(await count()).toBe('31');
  await turns.take(queue, [placed('other')]);
  expect(await count()).toBe('31');
  for (const place of await connection.zrange(taken, '0', '-1')) await connection.zadd(taken, 1, place);
  expect(await turns.take(queue, [placed('a')])).toEqual([2]);
  expect(await lookUp(2)).toEqual(['other interactive', 'a interactive']);
  expect(await count()).toBe('1');
});

test('a job whose row was not written leaves its place to the next one of its account', async () => {
  await add([direct('a')]);
  const payload = { request_id: newUuid(), turn: turnOf('refused', 'interactive') };
  const key = queue.toKey('turns');
  for (let n = 0; n < 5; n += 1) {
    producer.prepare({ definition, payload }).drop();
    await until('the place', async () => (await connection.hget(key, 'refused:interactive')) === null);
  }
  await producer.prepare({ definition, payload }).enqueue();
  expect(await connection.hget(key, 'refused:interactive')).toBe('1');
});

test('a retried job takes its turn among those that came meanwhile, and is not put back twice', async () => {
  const turns = createTurns(connection);
  await add([direct('retried')]);
  const job = await worker.getNextJob('token', { block: false });
  if (!job) throw new Error('there is no job');
  const [id, turn] = [String(job.id), String(job.data.turn)];
  expect(await turns.leave(queue, turn, id, true)).toBeNull();
  await turns.retryLater(queue, turn.replace('interactive', 'background'), id);
  await add(times(40, direct('flood')));
  await lookUp(20);
  // It is behind a new call, which is next, and before most of the others.
  const place = Number(await turns.leave(queue, turn, id, false));
  expect(place).toBe(21 + 3 + 2);
  expect(await turns.leave(queue, turn, id, false)).toBeNull();
  await job.moveToCompleted(null, 'token', false);
});

test('a job that was delayed before its first run is counted is counted down, and takes its turn when it comes back', async () => {
  const turns = createTurns(connection);
  await add([direct('quick')]);
  const job = await worker.getNextJob('token', { block: false });
  if (!job) throw new Error('there is no job');
  const [id, turn] = [String(job.id), String(job.data.turn)];
  await turns.retryLater(queue, turn, id);
  await add(times(3, direct('other')));
  expect(await turns.leave(queue, turn, id, true)).toBeNull();
  expect(await connection.hmget(queue.toKey('turns'), turn, 'made')).toEqual([null, '1']);
  expect(await turns.leave(queue, turn, id, false)).toBe(2);
  expect(await turns.leave(queue, turn, id, false)).toBeNull();
  expect(await connection.hmget(queue.toKey('turns'), turn, 'made')).toEqual([null, '2']);
  expect(await connection.exists(queue.toKey('retried'))).toBe(0);
  await job.moveToCompleted(null, 'token', false);
});

test('the count of lookups starts again before priorities end, and jobs keep their order', async () => {
  const turns = queue.toKey('turns');
  await connection.hset(turns, 'made', 2 ** 20 - 1);
  await add([direct('x')]);
  // The queue is not empty, and the next lookup is the last before the restart.
  await connection.hset(turns, 'made', 2 ** 20 + 1);
  await add([direct('a'), direct('a'), direct('b')]);
  expect(Number(await connection.hget(turns, 'made'))).toBe(0);
  expect(await lookUp(4)).toEqual(['x interactive', 'a interactive', 'b interactive', 'a interactive']);
});

test('jobs of a release with other priorities are not starved by new ones', async () => {
  const old = newUuid();
  names.set(old, 'old release');
  await queue.add('job', { request_id: old }, { jobId: old, priority: 2 ** 19 });
  const done: string[] = [];
  await add([direct('first')]);
  for (let n = 0; n < 75; n += 1) {
    await add([direct(`caller ${n}`)]);
    done.push(...(await lookUp(1)));
  }
  expect(done).toContain('old release');
});

test('what a crashed process did not count down ends when the queue is empty', async () => {
  await connection.hset(queue.toKey('turns'), turnOf('a', 'interactive'), 500);
  await add([direct('a')]);
  expect(await connection.hget(queue.toKey('turns'), turnOf('a', 'interactive'))).toBe('1');
});
