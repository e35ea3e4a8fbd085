import { randomBytes } from 'node:crypto';
import { newUuid } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { insertAccount } from './accounts.js';
import { deleteExpiredSessions, insertSession } from './sessions.js';
import { reserveSignIn, reserveTries, takeBackSignIn } from './sign-in-attempts.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const LIMIT = { tries: 5, windowMs: 60_000 };
const after = (ms: number) => new Date(NOW.getTime() + ms);

const connected = testDatabase(10, 10_000);

test('deletes only expired sessions and counts', async () => {
  const { db } = connected;
  const userId = newUuid();
  const user = { id: userId, email: 'owner@example.com', passwordHash: 'x' };
  const account = { id: newUuid(), name: 'A', plan: 'free', monthlyQuota: null, user, keys: [], now: NOW } as const;
  await insertAccount(db)({ ...account, keys: [] });
  const sessions = [-1, 0, 1].map((ms) => ({
    id: randomBytes(32),
    userId,
    passwordHash: 'x',
    now: NOW,
    expiresAt: after(ms),
  }));
  for (const session of sessions) await insertSession(db)(session, null);
  const [old, young] = [randomBytes(32), randomBytes(32)];
  await reserveSignIn(db, LIMIT)(old, after(-LIMIT.windowMs));
  await reserveSignIn(db, LIMIT)(young, NOW);

  await deleteExpiredSessions(db)(NOW);

  const left = await db.session.findMany();
  expect(left.map(({ id }) => Buffer.from(id).toString('hex'))).toEqual([sessions[2]?.id.toString('hex')]);
  const counts = await db.signInAttempt.findMany();
  expect(counts.map(({ address }) => Buffer.from(address).toString('hex'))).toEqual([young.toString('hex')]);
});

test('concurrent sign-ins on many connections never exceed the limit', async () => {
  const reserve = reserveSignIn(connected.db, LIMIT);
  const address = randomBytes(32);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => reserve(address, after(i))));
  expect(answers.filter((free) => free === null)).toHaveLength(LIMIT.tries);
  for (const free of answers) if (free) expect(free.getTime()).toBeGreaterThanOrEqual(after(LIMIT.windowMs).getTime());
});

test('an attempt refused by one of several limits is counted under none of them, and leaves no empty row', async () => {
  const { db } = connected;
  await db.signInAttempt.deleteMany();
  const reserve = reserveTries(db, LIMIT.windowMs);
  const [site, wide] = [randomBytes(32), randomBytes(32)];
  const both = [
    { key: site, tries: 5 },
    { key: wide, tries: 1 },
  ];
  expect(await reserve(both, NOW)).toEqual([]);
  expect(await reserve(both, after(10))).toEqual([{ key: wide, free: after(LIMIT.windowMs) }]);
  const fresh = randomBytes(32);
  expect(await reserve([{ key: fresh, tries: 5 }, ...both], after(20))).toHaveLength(1);
  const counts = await db.signInAttempt.findMany();
  expect(counts.map(({ triedAt }) => triedAt)).toEqual([[NOW], [NOW]]);
  await takeBackSignIn(db)([site, wide], NOW);
  expect(await db.signInAttempt.count()).toBe(0);
});

test('attempts that are counted and removed concurrently under the same keys do not deadlock', async () => {
  const reserve = reserveTries(connected.db, LIMIT.windowMs);
  const takeBack = takeBackSignIn(connected.db);
  const keys = Array.from({ length: 4 }, () => randomBytes(32));
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const mine = i % 2 === 0 ? keys : [...keys].reverse();
      expect(
        await reserve(
          mine.map((key) => ({ key, tries: 1_000 })),
          after(i),
        ),
      ).toEqual([]);
      await takeBack(mine, after(i));
    }),
  );
  const left = await connected.db.signInAttempt.findMany({ where: { address: { in: keys } } });
  expect(left).toEqual([]);
});

test('the window slides: another attempt is admitted when the oldest one has left it', async () => {
  const reserve = reserveSignIn(connected.db, LIMIT);
  const address = randomBytes(32);
  for (let i = 0; i < LIMIT.tries; i += 1) expect(await reserve(address, after(i * 10_000))).toBeNull();
  expect(await reserve(address, after(59_999))).toEqual(after(LIMIT.windowMs));
  expect(await reserve(address, after(LIMIT.windowMs))).toBeNull();
  expect(await reserve(address, after(LIMIT.windowMs + 1))).toEqual(after(LIMIT.windowMs + 10_000));
});

test('attempts from before the clock was set back do not count', async () => {
  const reserve = reserveSignIn(connected.db, LIMIT);
  const address = randomBytes(32);
  for (let i = 0; i < LIMIT.tries; i += 1) expect(await reserve(address, after(3_600_000))).toBeNull();
  expect(await reserve(address, after(3_600_000))).not.toBeNull();
  for (let i = 0; i < LIMIT.tries; i += 1) expect(await reserve(address, after(i))).toBeNull();
  expect(await reserve(address, after(10))).toEqual(after(LIMIT.windowMs));
});
