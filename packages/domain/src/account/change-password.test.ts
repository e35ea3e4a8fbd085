import { attemptCounts, clock, codeOf, secrets } from './account.fixture.js';
import { changePassword, PASSWORD_CHANGE_LIMIT, type PasswordChange } from './change-password.js';

const openChange = () => {
  const { now } = clock();
  const { reserve, forget, total } = attemptCounts(PASSWORD_CHANGE_LIMIT.windowMs);
  const changes: PasswordChange[] = [];
  const turns: string[] = [];
  let stored = 'hash of current';
  const useCase = changePassword({
    tokens: secrets(),
    reserve: async (key, at) => (await reserve([{ key, tries: PASSWORD_CHANGE_LIMIT.tries }], at))[0]?.free ?? null,
    forget,
    findUser: async (id) => (id === 'user' ? { id, passwordHash: stored } : null),
    verifyPassword: async (phc, password) => phc === `hash of ${password}`,
    hashPassword: async (password) => `hash of ${password}`,
    replace: async (change) => {
      if (change.from !== stored) return false;
      stored = change.to;
      return changes.push(change) > 0;
    },
    inTurn: (accountId, work) => {
      turns.push(accountId);
      return work();
    },
    sessionLifeMs: 60_000,
    now,
  });
  const change = (current: string, wanted = 'new', userId = 'user') =>
    useCase({ accountId: 'account', userId, current, wanted });
  return { change, changes, turns, total };
};

test('changing the password replaces it with a new session and forgets wrong attempts', async () => {
  const { change, changes, total } = openChange();
  expect(await codeOf(change('wrong'))).toBe('BAD_REQUEST');
  expect(await change('current')).toBe('token 1');
  expect(changes).toMatchObject([{ userId: 'user', from: 'hash of current', to: 'hash of new' }]);
  expect(total()).toBe(0);
});

test('after five wrong current passwords, the right one is refused too', async () => {
  const { change, changes } = openChange();
  for (let n = 0; n < 5; n += 1) expect(await codeOf(change('wrong'))).toBe('BAD_REQUEST');
  expect(await codeOf(change('current'))).toBe('TOO_MANY_SIGN_INS');
  expect(changes).toEqual([]);
});

test('all users of an account share its turn, so that they cannot occupy the thread that hashes', async () => {
  const { change, turns } = openChange();
  await Promise.all([codeOf(change('current', 'new', 'user')), codeOf(change('current', 'new', 'another'))]);
  expect(turns).toEqual(['account', 'account']);
});

test('of two changes with the same current password, the second is refused', async () => {
  const { change } = openChange();
  const results = await Promise.all([codeOf(change('current', 'a')), codeOf(change('current', 'b'))]);
  expect(results).toEqual([null, 'BAD_REQUEST']);
});
