import { setTimeout as pause } from 'node:timers/promises';
import { issueKeys, startWorld, until, type World } from '@vat/testkit';
import { type Browser, openSignedIn } from './dashboard/browser.fixture.js';

let world: World;
beforeAll(async () => {
  // Empty is unset: the limit of dashboard users is its default.
  world = await startWorld({ settings: { RATE_LIMIT: '10', SESSION_RATE_LIMIT: '' }, apis: 2, workers: 0 });
});
afterAll(() => world?.stop());

const newKey = async (): Promise<string> => String(await issueKeys(world, 1));

/** One cheap call to one of the API processes; returns when it was sent and answered, and how. */
const call = async (api: number, key: string) => {
  const sentAt = performance.now();
  const response = await fetch(`${String(world.apis[api % 2]?.ready.base_url)}/v1/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = (await response.json()) as { error?: { code: string; retry_after: number } };
  return { status: response.status, headers: response.headers, error: body.error, sentAt, at: performance.now() };
};

/** The first result that took less than a second: calls that take longer, on a busy machine, are rightly admitted later. */
const withinASecond = <T>(work: (key: string) => Promise<T>): Promise<T> =>
  until(
    'calls that take less than a second',
    async () => {
      const key = await newKey();
      const startedAt = performance.now();
      const result = await work(key);
      return performance.now() - startedAt < 1_000 ? { result } : null;
    },
    25_000,
  ).then(({ result }) => result);

test('of thirty concurrent calls over two processes exactly ten are admitted, and the others get Retry-After', async () => {
  const answers = await withinASecond(async (key) => Promise.all(Array.from({ length: 30 }, (_, n) => call(n, key))));
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

/** A call that is early by so much is held, not refused. */
const HOLD_MS = 80;

test('a steady ten a second over both processes is never refused', async () => {
  const key = await newKey();
  const start = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      await pause(Math.max(0, start + n * 100 - performance.now()));
      return call(n, key);
    }),
  );
  const admitted = answers.filter(({ status }) => status === 200);
  // On a busy machine calls are late and meet later ones: the eleventh within a second is rightly refused.
  const isEleventh = ({ sentAt }: { sentAt: number }) =>
    admitted.filter(({ at }) => at > sentAt - 1_000 + HOLD_MS).length >= 10;
  const refused = answers.filter((answer) => answer.status !== 200 && !isEleventh(answer));
  expect(refused.map(({ status, sentAt }) => ({ status, afterMs: sentAt - start }))).toEqual([]);
});

test('bursts at the edge of a second do not get twice the limit', async () => {
  const second = await withinASecond(async (key) => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => call(n, key)));
    await pause(500);
    return Promise.all(Array.from({ length: 10 }, (_, n) => call(n, key)));
  });
  expect(second.every((answer) => answer.status === 429)).toBe(true);
});

test('keys of one account are limited separately, and an unknown key is always 401', async () => {
  const [one, two] = [await newKey(), await newKey()];
  const answers = await Promise.all([one, two].flatMap((key) => Array.from({ length: 10 }, (_, n) => call(n, key))));
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  const unknown = await Promise.all(Array.from({ length: 15 }, (_, n) => call(n, 'vat_live_unknown')));
  expect(unknown.every((answer) => answer.status === 401)).toBe(true);
});

describe('a dashboard user', () => {
  const LIMIT = 50;
  const signIn = (email: string) => openSignedIn(world.baseUrl(), email);
  /** One cheap call of a session to one of the API processes. */
  const read = async (n: number, { cookie }: Browser, path = '/config') => {
    const sentAt = performance.now();
    const response = await fetch(`${String(world.apis[n % 2]?.ready.base_url)}/app/api${path}`, {
      headers: { cookie },
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string; retry_after: number } };
    return { status: response.status, headers: response.headers, error, sentAt, answeredAt: performance.now() };
  };
  const readAt = async (everyMs: number, n: number, startedAt: number, browser: Browser) => {
    await pause(Math.max(0, startedAt + n * everyMs - performance.now()));
    return read(n, browser);
  };
  beforeAll(async () => {
    await Promise.all(['busy', 'burst', 'quiet'].map((name) => world.newAccount({ email: `${name}@example.com` })));
  });

  type Answer = Awaited<ReturnType<typeof read>>;
  /**
   * The maximum number of calls that were admitted in one second. A call is admitted between its sending and its answer, so a
   * call whose sending and answer are both within a second was admitted in it.
   */
  const maxInOneSecond = (answers: Answer[]): number => {
    const admitted = answers.filter(({ status }) => status === 200);
    const inSecondOf = ({ sentAt }: Answer) =>
      admitted.filter((other) => other.sentAt >= sentAt && other.answeredAt < sentAt + 1_000).length;
    return Math.max(...admitted.map(inSecondOf));
  };
  const secondsOf = (answers: Answer[]): number =>
    (Math.max(...answers.map(({ answeredAt }) => answeredAt)) - Math.min(...answers.map(({ sentAt }) => sentAt))) /
    1_000;

  test('may make fifty calls of any kind per second over both processes and all sessions; further ones get Retry-After', async () => {
    const sessions = [await signIn('burst@example.com'), await signIn('burst@example.com')] as const;
    const paths = ['/session', '/config', '/overview', '/usage', '/checks', '/keys'];
    const answers = await Promise.all(
      Array.from({ length: 3 * LIMIT }, (_, n) => read(n, sessions[n % 3 === 0 ? 1 : 0], paths[n % paths.length])),
    );
    const refused = answers.filter(({ status }) => status === 429);
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted + refused.length).toBe(3 * LIMIT);
    expect(admitted).toBeGreaterThanOrEqual(LIMIT);
    expect(admitted).toBeLessThanOrEqual(LIMIT * Math.ceil(secondsOf(answers)));
    expect(maxInOneSecond(answers)).toBeLessThanOrEqual(LIMIT);
    expect(refused.length).toBeGreaterThan(0);
    for (const { error, headers } of refused) {
      expect(error).toEqual({
        code: 'RATE_LIMITED',
        message: `More than ${LIMIT} calls in one second in this session.`,
        retry_after: 1,
      });
      expect([headers.get('retry-after'), headers.get('ratelimit-limit')]).toEqual(['1', String(LIMIT)]);
    }
  });

  test('that makes 400 calls per second gets fifty in each second, and another user all of its twenty', async () => {
    const [busy, quiet] = [await signIn('busy@example.com'), await signIn('quiet@example.com')];
    const startedAt = performance.now();
    const flood = Promise.all(Array.from({ length: 800 }, (_, n) => readAt(2.5, n, startedAt, busy)));
    const others = await Promise.all(Array.from({ length: 40 }, (_, n) => readAt(50, n, startedAt, quiet)));
    const answers = await flood;
    expect(others.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    expect(maxInOneSecond(answers)).toBeLessThanOrEqual(LIMIT);
    // Refused calls do not count, so calls are admitted in each second.
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted).toBeLessThanOrEqual(LIMIT * Math.ceil(secondsOf(answers)));
    expect(admitted).toBeGreaterThan(LIMIT);
  });
});
