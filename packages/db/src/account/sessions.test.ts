import { randomBytes } from 'node:crypto';
import { newUuid } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { testDatabase } from '../test-database.fixture.js';
import { insertAccount } from './accounts.js';
import { deleteSession, findSession, insertSession } from './sessions.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const HOUR_MS = 3_600_000;
const TERMS = { idleMs: HOUR_MS, maxAgeMs: 24 * HOUR_MS, noteEveryMs: HOUR_MS };

const connected = testDatabase(10);

const signIn = async (email: string): Promise<Buffer> => {
  const [id, userId] = [randomBytes(32), newUuid()];
  const user = { id: userId, email, passwordHash: 'x' };
  await insertAccount(connected.db)({
    id: newUuid(),
    name: email,
    plan: 'free',
    monthlyQuota: null,
    user,
    keys: [],
    now: NOW,
  });
  await insertSession(connected.db)(
    { id, userId, passwordHash: 'x', now: NOW, expiresAt: new Date(NOW.getTime() + HOUR_MS) },
    null,
  );
  return id;
};

/** The database with the number of statements that were sent to it. */
const counted = (db: Database) => {
  const sent = { statements: 0 };
  const get = (target: Database, name: keyof Database) => {
    if (name === '$queryRaw') sent.statements += 1;
    return target[name];
  };
  return { sent, db: new Proxy(db, { get: (target, name) => get(target, name as keyof Database) }) };
};

test('hundreds of calls of one session share few statements, and those of another get its own user', async () => {
  const [busy, quiet] = [await signIn('busy@example.com'), await signIn('quiet@example.com')];
  const { sent, db } = counted(connected.db);
  const find = findSession(db, TERMS);
  const calls = Array.from({ length: 400 }, () => find(busy, NOW));
  const other = find(quiet, NOW);
  expect(new Set((await Promise.all(calls)).map((found) => found?.email))).toEqual(new Set(['busy@example.com']));
  expect((await other)?.email).toBe('quiet@example.com');
  expect(sent.statements).toBeLessThan(20);
});

test('a call that comes after the end of a session does not find it, whatever other calls wait', async () => {
  const id = await signIn('leaves@example.com');
  const find = findSession(connected.db, TERMS);
  const before = Array.from({ length: 50 }, () => find(id, NOW));
  await deleteSession(connected.db)(id);
  expect(await find(id, NOW)).toBeNull();
  await Promise.all(before);
});
