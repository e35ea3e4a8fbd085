import { setTimeout as pause } from 'node:timers/promises';
import { issueKeys, startWorld, type World } from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld({ settings: { RATE_LIMIT: '10' }, apis: 2 });
});
afterAll(() => world?.stop());

const newKey = async (): Promise<string> => String(await issueKeys(world, 1));

/** One cheap call to one of the API processes; tells when it was answered and how. */
const call = async (api: number, key: string) => {
  const response = await fetch(`${String(world.apis[api % 2]?.ready.base_url)}/v1/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = (await response.json()) as { error?: { code: string; retry_after: number } };
  return { status: response.status, headers: response.headers, error: body.error, at: performance.now() };
};

test('of thirty calls at once over two processes exactly ten are admitted, and the others say what to do', async () => {
  const key = await newKey();
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => call(n, key)));
  const refused = answers.filter((answer) => answer.status === 429);
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(10);
  expect(refused).toHaveLength(20);
  for (const { error, headers } of refused) {
    expect(error?.code).toBe('RATE_LIMITED');
    expect([error?.retry_after, headers.get('retry-after')]).toEqual([1, '1']);
    expect(headers.get('ratelimit-limit')).toBe('10');
    expect(headers.get('ratelimit-remaining')).toBe('0');
  }
});

test('a steady ten a second over both processes is never refused', async () => {
  const key = await newKey();
  const start = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      await pause(Math.max(0, start + n * 100 - performance.now()));
      return call(n, key);
    }),
  );
  expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
});

test('bursts at the edge of a second do not get twice the limit', async () => {
  const key = await newKey();
  await Promise.all(Array.from({ length: 10 }, (_, n) => call(n, key)));
  await pause(500);
  const second = await Promise.all(Array.from({ length: 10 }, (_, n) => call(n, key)));
  expect(second.every((answer) => answer.status === 429)).toBe(true);
});

test('keys of one account are limited apart, and an unknown key is 401 however often it comes', async () => {
  const [one, two] = [await newKey(), await newKey()];
  const answers = await Promise.all([one, two].flatMap((key) => Array.from({ length: 10 }, (_, n) => call(n, key))));
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  const unknown = await Promise.all(Array.from({ length: 15 }, (_, n) => call(n, 'vat_live_unknown')));
  expect(unknown.every((answer) => answer.status === 401)).toBe(true);
});
