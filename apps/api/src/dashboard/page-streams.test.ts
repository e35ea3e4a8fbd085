import { connectRedis, publishPageUpdates, subscribePageUpdates } from '@vat/queues';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { type PageStreamLimits, type PageStreams, pageStreams } from './page-streams.js';

const QUICK: PageStreamLimits = {
  perSession: 2,
  perAccount: 3,
  perProcess: 5,
  coalesceMs: 50,
  heartbeatMs: 60,
  rereadMs: 40,
};

let namespace: RedisNamespace;
let prefix: string;
let redis: ReturnType<typeof connectRedis>;
let publisher: ReturnType<typeof connectRedis>;
let live: Set<string>;
let isPostgresAway: boolean;
let streams: PageStreams;
beforeAll(async () => {
  namespace = await openRedisNamespace();
  prefix = namespace.prefix;
});
afterAll(() => namespace?.close());
beforeEach(async () => {
  redis = connectRedis(namespace.url, 'consumer', () => undefined);
  publisher = connectRedis(namespace.url, 'producer', () => undefined);
  // On a busy machine connecting takes longer than the 40 ms after which pages are made to read everything.
  await until('both connections', () => redis.status === 'ready' && publisher.status === 'ready');
  live = new Set(['s1', 's2', 's3']);
  isPostgresAway = false;
  streams = pageStreams({
    subscribe: (onUpdates) => subscribePageUpdates(redis, prefix, onUpdates),
    liveSessions: async (ids) => {
      if (isPostgresAway) throw new Error('Postgres is away');
      return new Set(ids.filter((id) => live.has(id)));
    },
    limits: QUICK,
    now: () => new Date(),
  });
});
afterEach(() => {
  streams.close();
  redis.disconnect();
  publisher.disconnect();
});

const join = (accountId: string, session: string) => {
  const page = { text: '', isOver: false };
  const { ready, leave } = streams.join({
    accountId,
    session,
    write: (text) => {
      page.text += text;
    },
    end: () => {
      page.isOver = true;
      leave();
    },
  });
  return Object.assign(page, { ready, leave });
};

test('heartbeats are sent at intervals, and the streams of an ended session are closed at the next one', async () => {
  const [one, two] = [join('a', 's1'), join('a', 's2')];
  await until('two signs of life', () => two.text.split(': here\n\n').length > 2);
  live.delete('s1');
  await until('the stream of the ended session to end', () => one.isOver);
  expect(two.isOver).toBe(false);
});

test('while Postgres is away no stream is closed', async () => {
  const one = join('a', 's1');
  isPostgresAway = true;
  live.clear();
  const before = one.text.length;
  await until('two signs of life', () => one.text.slice(before).split(': here\n\n').length > 2);
  expect(one.isOver).toBe(false);
  isPostgresAway = false;
  await until('the end', () => one.isOver);
});

test('the number of streams is limited per session, account and process', () => {
  join('a', 's1');
  join('a', 's1');
  expect(() => join('a', 's1')).toThrow(expect.objectContaining({ code: 'TOO_MANY_STREAMS' }));
  join('a', 's2');
  expect(() => join('a', 's2')).toThrow(expect.objectContaining({ code: 'TOO_MANY_STREAMS' }));
  join('b', 's3');
  const last = join('b', 's3');
  expect(() => join('c', 's4')).toThrow(expect.objectContaining({ code: 'TOO_MANY_STREAMS' }));
  last.leave();
  last.leave();
  join('c', 's4');
});

test('updates of an account reach each of its pages until they disconnect', async () => {
  const { publish } = publishPageUpdates(publisher, prefix);
  const [one, two, stranger] = [join('a', 's1'), join('a', 's2'), join('b', 's3')];
  await Promise.all([one.ready, two.ready, stranger.ready]);
  publish('a', 'checks', 'chk_1');
  const event = 'event: changed\ndata: {"topic":"checks","id":"chk_1"}\n\n';
  await until('the news', () => one.text.includes(event) && two.text.includes(event));
  one.leave();
  const heard = one.text;
  publish('a', 'watches');
  await until('the next update', () => two.text.includes('"watches"'));
  expect([one.text, stranger.text.includes('changed')]).toEqual([heard, false]);
  two.leave();
  stranger.leave();
  await until('no channel to be listened to', async () => {
    const [, ...counts] = (await publisher.pubsub('NUMSUB', `${prefix}:pages:a`, `${prefix}:pages:b`)) as unknown[];
    return counts.filter((_count, n) => n % 2 === 0).every((count) => Number(count) === 0);
  });
});

test('while Redis is away pages read everything again, and once more when it is back', async () => {
  const one = join('a', 's1');
  await one.ready;
  expect(one.text).not.toContain('changed');
  redis.disconnect();
  await until('all topics to be sent', () => one.text.includes('"deliveries"'));
  await redis.connect();
  const { publish } = publishPageUpdates(publisher, prefix);
  await until('the channel to be listened to again', async () => {
    const [, count] = (await publisher.pubsub('NUMSUB', `${prefix}:pages:a`)) as unknown[];
    return Number(count) === 1;
  });
  publish('a', 'deliveries', 'dlv_1');
  await until('updates again', () => one.text.includes('{"topic":"deliveries","id":"dlv_1"}'));
});

test('closing ends every stream, and later ones immediately', () => {
  const one = join('a', 's1');
  streams.close();
  expect(one.isOver).toBe(true);
  const ended: string[] = [];
  streams.join({ accountId: 'a', session: 's1', write: () => undefined, end: () => void ended.push('late') });
  expect(ended).toEqual(['late']);
});
