import { attemptCounts, clock, codeOf, memory, secrets } from './account.fixture.js';
import { beginSession, type NewSession } from './session.js';
import { type Arrival, type Client, SIGN_IN_LIMITS, type SignInDeps, signIn } from './sign-in.js';

const EMAIL = 'owner@example.com';
const at = (site: string, wide = 'wide', family = 'IPv4'): Client => ({
  branches: [family, wide, site],
  family,
  wide,
  site,
});

/** The use case with one user, whose password is `right`, and a queue that runs everything at once. */
const open = (changed: Partial<SignInDeps> = {}) => {
  const { now, pass } = clock();
  const tokens = secrets();
  const counts = attemptCounts(SIGN_IN_LIMITS.windowMs);
  const user = { id: 'user', passwordHash: 'hash of right', knownNetworks: [] as Uint8Array[] };
  const sessions: NewSession[] = [];
  const verified: string[] = [];
  const arrivals: Arrival[] = [];
  const useCase = signIn({
    tokens,
    queue: {
      run: async (work) => {
        arrivals.push(work);
        const error = work.check();
        if (error) throw error;
        return work.run();
      },
      refuseAtOnce: ({ check }) => check(),
    },
    refusals: memory(1_000),
    knownSites: memory(60_000),
    ...counts,
    findUser: async (email) => (email === EMAIL ? user : null),
    rememberNetwork: async (_id, network) => void user.knownNetworks.push(network),
    verifyPassword: async (phc, password) => {
      verified.push(phc);
      return phc === `hash of ${password}`;
    },
    beginSession: beginSession({
      tokens,
      insertSession: async (session) => sessions.push(session) > 0,
      sessionLifeMs: 60_000,
      now,
    }),
    dummyHash: Promise.resolve('dummy'),
    now,
    ...changed,
  });
  const gone = new AbortController().signal;
  const attempt = (password: string, client = at('site'), email = EMAIL) =>
    codeOf(useCase.signIn({ email, password, client, earlier: null, gone }));
  const wrongTimes = async (count: number, client = at('site')) => {
    for (let n = 0; n < count; n += 1) await attempt('wrong', client);
  };
  return { attempt, wrongTimes, refuse: useCase.refuse, counts, sessions, verified, arrivals, pass };
};

test('a right password begins a session, and nothing stays counted', async () => {
  const { attempt, wrongTimes, counts, sessions } = open();
  await wrongTimes(4);
  expect(await attempt('right')).toBe(null);
  expect(sessions).toMatchObject([{ userId: 'user', passwordHash: 'hash of right' }]);
  // Those of the wide network and of the family stay until their time has passed.
  expect(counts.total()).toBe(8);
});

test('an unknown address is the same error after the same work as a wrong password', async () => {
  const { attempt, verified } = open();
  expect(await attempt('wrong')).toBe('UNAUTHORIZED');
  expect(await attempt('wrong', at('site'), 'nobody@example.com')).toBe('UNAUTHORIZED');
  expect(verified).toEqual(['hash of right', 'dummy']);
});

test.each([
  ['one site', SIGN_IN_LIMITS.site, (_n: number) => at('site')],
  ['the sites of one wide network', SIGN_IN_LIMITS.wide, (n: number) => at(`site ${n}`)],
  ['the wide networks of one family', SIGN_IN_LIMITS.family, (n: number) => at(`site ${n}`, `wide ${n}`)],
])('from %s, %i wrong passwords are verified, and then not even the right one', async (_name, max, clientOf) => {
  const { attempt, verified, pass } = open();
  for (let n = 0; n < max; n += 1) expect(await attempt('wrong', clientOf(n))).toBe('UNAUTHORIZED');
  expect(await attempt('right', clientOf(max))).toBe('TOO_MANY_SIGN_INS');
  expect(verified).toHaveLength(max);
  pass(SIGN_IN_LIMITS.windowMs);
  expect(await attempt('right', clientOf(max))).toBe(null);
});

test('from a site where the user has signed in before, only the wrong passwords of that site count', async () => {
  const { attempt, wrongTimes, arrivals } = open();
  expect(await attempt('right', at('home'))).toBe(null);
  for (let n = 0; n < SIGN_IN_LIMITS.wide; n += 1) await wrongTimes(1, at(`site ${n}`));
  expect(await attempt('right', at('elsewhere'))).toBe('TOO_MANY_SIGN_INS');
  expect(await attempt('right', at('home'))).toBe(null);
  expect(arrivals.at(-1)?.branches[0]).toBe('known');
  await wrongTimes(SIGN_IN_LIMITS.site, at('home'));
  expect(await attempt('right', at('home'))).toBe('TOO_MANY_SIGN_INS');
});

test('the refusal of a site is cached for a second, as one error', async () => {
  const { attempt, wrongTimes, refuse, arrivals, pass } = open();
  await wrongTimes(SIGN_IN_LIMITS.site + 1);
  expect(arrivals.at(-1)?.check()?.extra).toEqual({ retry_after: 900 });
  expect(refuse(EMAIL, at('site'))).toBe(refuse(EMAIL, at('site')));
  expect(refuse('nobody@example.com', at('site'))).toBe(null);
  pass(1_000);
  expect(refuse(EMAIL, at('site'))).toBe(null);
  expect(await attempt('right')).toBe('TOO_MANY_SIGN_INS');
});

test('a password that could not be verified is not counted', async () => {
  const { attempt, counts } = open({ verifyPassword: () => Promise.reject(new Error('out of memory')) });
  expect(await attempt('right')).toBe('Error: out of memory');
  expect(counts.total()).toBe(0);
});

test('a password that was changed in the meantime begins no session', async () => {
  const { now } = clock();
  const begin = beginSession({ tokens: secrets(), insertSession: async () => false, sessionLifeMs: 1, now });
  expect(await codeOf(begin({ id: 'user', passwordHash: 'old' }, null))).toBe('UNAUTHORIZED');
});

test('a new session ends the earlier one of the browser', async () => {
  const { now } = clock();
  const tokens = secrets();
  const ended: (Uint8Array | null)[] = [];
  const insertSession = async (_session: NewSession, earlier: Uint8Array | null) => ended.push(earlier) > 0;
  const begin = beginSession({ tokens, insertSession, sessionLifeMs: 1, now });
  expect(await begin({ id: 'user', passwordHash: 'hash' }, 'earlier')).toBe('token 1');
  expect(ended).toEqual([tokens.hash('earlier')]);
});
