import { readFileSync } from 'node:fs';
import { newUuid } from '@vat/domain';
import { openHttpServer, until } from '@vat/testkit';
import {
  type ClusterSet,
  type RedisSet,
  type SentinelSet,
  startClusterSet,
  startSentinelSet,
  startTlsRedis,
} from '@vat/testkit/redis-sets';
import { connectRedis, pingRedis, type RedisConnection, reachRedis } from './connect-redis.js';
import { createProducer } from './create-producer.js';
import { createQueueBoard } from './create-queue-board.js';
import { createRateLimiter } from './create-rate-limiter.js';
import { endpointPermits } from './endpoint-permits.js';
import { ensureSchedulers } from './ensure-schedulers.js';
import { QUEUES, type QueueDefinition, settleQueue, upstreamQueue, watchesQueue } from './job-catalogue.js';
import { joinCluster } from './join-cluster.js';
import { publishPageUpdates, subscribePageUpdates } from './page-update.js';
import { publishNotification, subscribeNotifications } from './request-notifications.js';
import { startConsumer } from './start-consumer.js';
import { TlsConnector } from './tls-connector.js';

type Kind = 'single' | 'sentinel' | 'cluster';
let single: RedisSet;
let sentinel: SentinelSet;
let cluster: ClusterSet;
beforeAll(async () => {
  [single, sentinel, cluster] = await Promise.all([
    startTlsRedis(),
    startSentinelSet({ tls: true }),
    startClusterSet({ tls: true }),
  ]);
});
afterAll(() => Promise.all([single?.stop(), sentinel?.stop(), cluster?.stop()]));

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  expect(errors.splice(0)).toEqual([]);
});

const errors: unknown[] = [];
const raise = (error: unknown) => errors.push(error);
const addressOf = (kind: Kind) => {
  const { url, ca = '' } = { single, sentinel, cluster }[kind];
  return { url, ca: readFileSync(ca, 'utf8') };
};
const connect = (kind: Kind, role: 'producer' | 'consumer'): RedisConnection => {
  const { url, ca } = addressOf(kind);
  const connection = connectRedis(url, role, raise, ca);
  closers.push(async () => {
    connection.disconnect();
    await until('the connection to end', () => /end|close/.test(connection.status));
  });
  return connection;
};
const ready = async (connection: RedisConnection) => {
  await until('the connection', () => connection.status === 'ready');
  return connection;
};
const prefix = 'kinds';

/** Runs every job of a queue; returns the ids that ran. */
const consume = (connection: RedisConnection, definition: QueueDefinition<{ request_id: string }>): string[] => {
  const ran: string[] = [];
  const consumer = startConsumer(
    definition,
    ({ request_id }) => {
      ran.push(request_id);
      return Promise.resolve(undefined);
    },
    { connection, prefix, stopping: new AbortController().signal, onJobError: raise, onError: raise },
  );
  closers.push(() => consumer.close());
  return ran;
};

describe.each<Kind>(['single', 'sentinel', 'cluster'])('over TLS, Redis of the kind %s', (kind) => {
  test('runs the jobs of queues on every master, and finds which have a job', async () => {
    const producer = createProducer(await ready(connect(kind, 'producer')), prefix);
    closers.push(() => producer.close());
    const consumers = connect(kind, 'consumer');
    const definitions = [upstreamQueue('DE'), upstreamQueue('FR'), upstreamQueue('IT'), settleQueue];
    for (const definition of definitions) {
      await producer.assertGlobalConcurrency(definition);
      const jobs = Array.from({ length: 20 }, () => ({ payload: { request_id: newUuid() } }));
      const late = { request_id: newUuid() };
      await producer.enqueueAll(definition, jobs);
      await producer.enqueue({ definition, payload: late, dueAt: new Date(Date.now() + 3_600_000) });
      await producer.reclassify(definition, late, 'batch');
      const ids = jobs.map(({ payload }) => payload.request_id);
      const missing = newUuid();
      expect(await producer.withoutJob(definition, [...ids, missing])).toEqual([missing]);
      const ran = consume(consumers, definition);
      await until('the jobs', () => ran.length >= 20);
      expect(new Set(ran)).toEqual(new Set(ids));
      await producer.promote(definition, late.request_id);
      await until('the promoted job', () => ran.includes(late.request_id));
    }
  });

  test('counts calls and attempts, and passes messages on', async () => {
    const connection = await ready(connect(kind, 'producer'));
    const limit = { calls: 3, windowMs: 60_000, holdMs: 0 };
    const limiter = createRateLimiter({ connection, prefix, limit, onAlone: () => undefined });
    let admitted: boolean[] = [];
    // Its connections to the masters of a cluster are new: on a busy machine the first answer may take longer than a limiter waits.
    await until('calls counted in Redis', async () => {
      const key = newUuid();
      const others = await Promise.all(Array.from({ length: 5 }, () => limiter.admit(newUuid())));
      admitted = others.map((decision) => decision.admitted);
      for (let call = 0; call < 4; call += 1) admitted.push((await limiter.admit(key)).admitted);
      return !limiter.isAlone();
    });
    expect(admitted).toEqual([true, true, true, true, true, true, true, true, false]);

    const promoted: string[] = [];
    const acquire = endpointPermits({
      ...{ connection, prefix, share: 1, slowShare: 1, slowAfterMs: 60_000, holdMs: 60_000 },
      promote: async (_class, jobId) => void promoted.push(jobId),
    });
    const endpoint = newUuid();
    const permit = await acquire(endpoint, 'first-job', 'first');
    expect((await acquire(endpoint, 'second-job', 'first')).kind).toBe('full');
    if (permit.kind === 'taken') await permit.release(10);
    expect(promoted).toEqual(['second-job']);

    const received: unknown[] = [];
    const subscriber = connect(kind, 'consumer');
    subscribeNotifications(subscriber, { prefix, secretKey: 'secret', replyTo: 'me' }, (notification) =>
      received.push(notification),
    );
    const pages = subscribePageUpdates(subscriber, prefix, (accountId, updates) => received.push([accountId, updates]));
    await pages.follow('account');
    const publisher = publishPageUpdates(connection, prefix);
    publisher.publish('account', 'requests', 'req_1');
    const notify = publishNotification(connection, prefix, 'secret');
    const check = { id: newUuid(), hash: Buffer.alloc(32, 0xf1), bytes: Buffer.from('{"name":"ΑΒ\\n\u2028"}') };
    await notify('me', { requestId: 'request' });
    await notify('me', { requestId: 'completed', check });
    await publishNotification(connection, prefix, 'of others')('me', { requestId: 'forged', check });
    await until('all messages', () => received.length >= 4);
    expect(received).toContainEqual({ requestId: 'request' });
    expect(received).toContainEqual({ requestId: 'completed', check });
    expect(received).toContainEqual({ requestId: 'forged' });
    expect(received).toContainEqual(['account', [{ topic: 'requests', id: 'req_1' }]]);
    publisher.close();

    const counts: Record<string, number> = {};
    const fleet = joinCluster({
      ...{ connection, prefix, queues: [upstreamQueue('DE').name], now: () => new Date() },
      onCount: (queue, processes) => {
        counts[queue] = processes;
      },
    });
    closers.push(fleet.close);
    await until('the heartbeat', () => counts[upstreamQueue('DE').name] === 1);
  });

  test('has its limits and schedules restored when it lost its data', async () => {
    const connection = await ready(connect(kind, 'producer'));
    const producer = createProducer(connection, prefix);
    closers.push(() => producer.close());
    let losses = 0;
    const schedulers = ensureSchedulers({
      ...{ connection, producer, prefix, capped: [upstreamQueue('DE'), upstreamQueue('FR')] },
      schedule: [{ queue: watchesQueue, id: 'due', payload: {}, everyMs: 3_600_000 }],
      onLoss: async () => {
        losses += 1;
      },
      onError: raise,
    });
    closers.push(schedulers.close);
    const restored = async () =>
      (await connection.hget(`${prefix}:${upstreamQueue('DE').name}:meta`, 'concurrency')) === '2' &&
      (await connection.hget(`${prefix}:${watchesQueue.name}:repeat:due`, 'every')) === '3600000';
    await until('the first restore', async () => losses === 1 && (await restored()));
    if (kind === 'cluster') {
      // One master loses its data; the other two keep theirs.
      for (const { redis } of cluster.masters) {
        const before = losses;
        await redis.flushall();
        await until('a restore', () => losses === before + 1);
        await until('the limits and schedules', restored);
      }
    } else {
      await connection.flushall();
      await until('the second restore', async () => losses === 2 && (await restored()));
    }
  });

  test('is shown by the board, and is reported as reachable', async () => {
    const connection = await ready(connect(kind, 'producer'));
    expect(await pingRedis(connection)()).toBe(true);
    const failures: Error[] = [];
    const board = await createQueueBoard(connection, prefix, {
      basePath: '/ops',
      onError: (error) => failures.push(error),
    });
    closers.push(board.close);
    const server = await openHttpServer((req, res) => board.handle(req, res, () => res.writeHead(404).end()));
    closers.push(server.close);
    const response = await fetch(`${server.url}/api/queues`);
    const { queues } = (await response.json()) as { queues: unknown[] };
    expect(failures).toEqual([]);
    expect(queues).toHaveLength(Object.keys(QUEUES).length);
    const { url, ca } = addressOf(kind);
    await reachRedis(url, ca);
  });
});

test('a certificate that REDIS_CA does not cover is refused, and so is a connection without TLS', async () => {
  await expect(reachRedis(single.url)).rejects.toThrow(
    /^REDIS_URL \(127\.0\.0\.1:\d+\/0\) does not answer: .*certificate/,
  );
  for (const { url } of [single, sentinel, cluster]) {
    await expect(reachRedis(url)).rejects.toThrow(/does not answer/);
    await expect(reachRedis(url.replace('rediss', 'redis'))).rejects.toThrow(/does not answer/);
  }
});

test('a second error of a connection whose certificate was refused does not end the process', async () => {
  const { hostname: host, port } = new URL(single.url);
  const connector = new TlsConnector({ host, port: Number(port), tls: {} });
  const stream = await connector.connect();
  await new Promise((resolve) => stream.once('close', resolve));
  expect(connector.firstError?.message).toMatch(/certificate/);
  stream.emit('error', new Error('tlsv1 alert decode error'));
});

test.each([
  [
    'redis-sentinel://:secret@127.0.0.1:1/m',
    /^REDIS_URL \(127\.0\.0\.1:1\/m\) does not answer: All sentinels are unreachable/,
  ],
  ['redis-cluster://:secret@127.0.0.1:1', /^REDIS_URL \(127\.0\.0\.1:1\) does not answer: \w+/],
])('%s, which does not respond, is named without its login', async (url, message) => {
  await expect(reachRedis(url)).rejects.toThrow(message);
});
