import { issueKeys, type OwnServers, startOwnServers, startWorld, until, type World } from '@vat/testkit';
import { openBrowser } from './dashboard/browser.fixture.js';

/** Calls of a dashboard user per second. */
const USER_LIMIT = 15;

let servers: OwnServers;
let world: World;
let keys: string[];
beforeAll(async () => {
  servers = await startOwnServers();
  world = await startWorld({
    servers: { databaseUrl: servers.postgres.url, redisUrl: servers.redis.url },
    settings: { RATE_LIMIT: '10', SESSION_RATE_LIMIT: String(USER_LIMIT) },
    workers: 0,
  });
  keys = await issueKeys(world, 3);
});
afterAll(async () => {
  servers?.redis.thaw();
  await world?.stop();
  await servers?.stop();
});

const call = async (key: string) => {
  const startedAt = performance.now();
  const { status } = await fetch(`${world.baseUrl()}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  return { status, ms: performance.now() - startedAt };
};

/** The limit holds within the process, and no call hangs. */
const expectLimited = async (key: string): Promise<void> => {
  await call(key); // the first one pays for finding out
  await until('the second of that call to be over', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => call(key)));
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(2_000);
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted).toBeLessThanOrEqual(10);
    return admitted > 0;
  });
};

const countOf = async (metric: string): Promise<number> => {
  const text = await (await fetch(`${world.baseUrl()}/metrics`)).text();
  return Number(new RegExp(`^${metric}\\S* (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};

test('with Redis frozen, the limit holds per process, without delay, and a warning is logged', async () => {
  await servers.redis.freeze();
  try {
    const [key = ''] = keys;
    const first = await call(key);
    expect(first.status).toBe(200);
    // A tenth of a second for Redis, and time for this machine.
    expect(first.ms).toBeLessThan(1_000);
    await expectLimited(key);
    expect(await countOf('vat_rate_limit_alone_total')).toBeGreaterThan(0);
    const [api] = world.apis;
    expect(api?.lines().some((line) => line.includes('Rate limits are counted per process while Redis is away.'))).toBe(
      true,
    );
  } finally {
    servers.redis.thaw();
  }
});

test('with Redis away, the limit holds per process, also for a dashboard user, and over all processes once Redis is back', async () => {
  await world.newAccount({ email: 'owner@example.com' });
  const browser = openBrowser(world.baseUrl());
  await browser.signIn('owner@example.com');
  await servers.redis.kill();
  await expectLimited(keys[1] ?? '');
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 60 }, () => browser.call('get', '/config')));
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  const admitted = answers.filter(({ status }) => status === 200).length;
  expect(admitted).toBeGreaterThanOrEqual(USER_LIMIT);
  expect(admitted).toBeLessThanOrEqual(USER_LIMIT * seconds);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(answers.length - admitted);
  await servers.redis.start();
  await until('Redis to be used again', async () => {
    const { status } = await fetch(`${world.baseUrl()}/readyz`);
    const before = await countOf('vat_rate_limit_alone_total');
    await call(keys[2] ?? '');
    return status === 200 && (await countOf('vat_rate_limit_alone_total')) === before;
  });
});
