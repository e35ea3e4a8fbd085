import { newUuid, publicId } from '../ids.js';
import { attemptCounts, clock, codeOf, memory, secrets } from './account.fixture.js';
import { SIGN_UP_LIMITS, signUp } from './sign-up.js';

const openSignUp = () => {
  const { now, pass } = clock();
  const users = new Set<string>();
  let reservations = 0;
  const counts = attemptCounts(SIGN_UP_LIMITS.windowMs);
  const useCase = signUp({
    tokens: secrets(),
    reserve: async (limits, at) => {
      reservations += 1;
      return counts.reserve(limits, at);
    },
    refusals: memory(1_000),
    createAccount: async ({ email }) => {
      if (users.has(email)) return null;
      users.add(email);
      return { accountId: publicId('account', newUuid()), liveKey: 'live', testKey: 'test' };
    },
    findUser: async (email) => (users.has(email) ? { id: email, passwordHash: 'hash' } : null),
    beginSession: async ({ id }) => `session of ${id}`,
    now,
  });
  const open = (email: string, network = '192.0.2.1', site = network) =>
    useCase({ name: 'Name', email, password: 'long enough', network, site, earlier: null });
  return { open, users, pass, reservations: () => reservations };
};

test('signing up opens an account and begins a session; a taken address is refused', async () => {
  const { open } = openSignUp();
  expect(await open('a@example.com')).toEqual({ token: 'session of a@example.com', liveKey: 'live', testKey: 'test' });
  expect(await codeOf(open('a@example.com'))).toBe('EMAIL_TAKEN');
});

test.each([
  ['one network', SIGN_UP_LIMITS.network, (_n: number) => ['network', 'site']],
  ['one site', SIGN_UP_LIMITS.site, (n: number) => [`network ${n}`, 'site']],
  ['everywhere', SIGN_UP_LIMITS.all, (n: number) => [`network ${n}`, `site ${n}`]],
])('from %s, %i accounts are opened an hour, and a refusal is cached', async (_name, max, fromOf) => {
  const { open, users, pass, reservations } = openSignUp();
  const attempt = (n: number) => codeOf(open(`user${n}@example.com`, ...(fromOf(n) as [string, string])));
  for (let n = 0; n < max; n += 1) expect(await attempt(n)).toBe(null);
  for (let n = 0; n < 3; n += 1) expect(await attempt(max)).toBe('TOO_MANY_SIGN_UPS');
  expect([users.size, reservations()]).toEqual([max, max + 1]);
  pass(SIGN_UP_LIMITS.windowMs);
  expect(await attempt(max)).toBe(null);
});

test('a refusal names at most an hour, also by a clock that is behind that of the last account', async () => {
  const { open, pass } = openSignUp();
  for (let n = 0; n < SIGN_UP_LIMITS.network; n += 1) await open(`user${n}@example.com`);
  pass(-20);
  await expect(open('late@example.com')).rejects.toMatchObject({
    ...{ code: 'TOO_MANY_SIGN_UPS', extra: { retry_after: SIGN_UP_LIMITS.windowMs / 1_000 } },
  });
});
