import { randomBytes } from 'node:crypto';
import { newUuid, type Role } from '@vat/domain';
import { until } from '@vat/testkit';
import type { Queryable } from '../connect-database.js';
import { eraseAccount } from '../evidence/retention.js';
import { countWaiting, testDatabase } from '../test-database.fixture.js';
import { saveWebhook } from '../webhook/webhooks.js';
import { insertApiKey } from './accounts.js';
import { deleteExpiredInvitations, findInvitation, insertInvitation, insertMember } from './invitations.js';
import { changeMember, listMembers } from './members.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const LATER = new Date(NOW.getTime() + 60_000);
const LIMITS = { members: 100, invitations: 100 };

const connected = testDatabase(10, 10_000);

/** An account that is disabled, so that it can be erased, with users of these roles. */
const account = async (...roles: Role[]) => {
  const id = newUuid();
  const users = roles.map((role) => ({
    id: newUuid(),
    email: `${newUuid()}@example.com`,
    passwordHash: 'x',
    role,
    createdAt: NOW,
  }));
  await connected.db.account.create({
    data: { id, name: 'A', plan: 'free', createdAt: NOW, disabledAt: NOW, users: { create: users } },
  });
  return { id, userIds: users.map((user) => user.id) as [string, ...string[]] };
};
const invite = async (accountId: string, invitedBy: string, expiresAt = LATER, email: string | null = null) => {
  const tokenHash = randomBytes(32);
  const invitation = { id: newUuid(), accountId, invitedBy, tokenHash, email, role: 'member' as const };
  const times = { createdAt: NOW, expiresAt, mailDueAt: null };
  expect(await insertInvitation(connected.db)({ ...invitation, ...times }, LIMITS)).toBe('inserted');
  return { accountId, tokenHash };
};
const join = (invitation: { accountId: string; tokenHash: Uint8Array }) => {
  const member = { id: newUuid(), email: `${newUuid()}@example.com`, passwordHash: 'x', now: NOW };
  return insertMember(connected.db)(invitation, member, LIMITS.members);
};

test('of two owners who remove or demote each other at the same time, one stays owner', async () => {
  for (const role of ['auditor', null] as const) {
    const { id: accountId, userIds } = await account('owner', 'owner');
    const outcomes = await Promise.all(
      userIds.map((ownerId, n) =>
        changeMember(connected.db)({ accountId, ownerId, userId: userIds[1 - n] ?? '', role }),
      ),
    );
    expect(outcomes.sort()).toEqual(['changed', 'not_owner']);
    const owners = (await listMembers(connected.db)(accountId)).filter((member) => member.role === 'owner');
    expect(owners).toHaveLength(1);
  }
});

test('the invitations of an owner end when the owner is demoted or removed, and those of others stay', async () => {
  const { id: accountId, userIds } = await account('owner', 'owner', 'owner');
  const [ownerId, demoted = '', removed = ''] = userIds;
  const [kept, ...ended] = await Promise.all(userIds.map((userId) => invite(accountId, userId)));
  await changeMember(connected.db)({ accountId, ownerId, userId: demoted, role: 'member' });
  await changeMember(connected.db)({ accountId, ownerId, userId: removed, role: null });
  for (const invitation of ended) expect(await join(invitation)).toBe('missing');
  if (kept) expect(await join(kept)).toBe('inserted');
});

test('a removed member does not come back by another invitation for the same address', async () => {
  const { id: accountId, userIds } = await account('owner');
  const [ownerId] = userIds;
  const email = `${newUuid()}@example.com`;
  const [used, other] = [await invite(accountId, ownerId), await invite(accountId, ownerId, LATER, email)];
  const member = { id: newUuid(), email, passwordHash: 'x', now: NOW };
  expect(await insertMember(connected.db)(used, member, LIMITS.members)).toBe('inserted');
  await changeMember(connected.db)({ accountId, ownerId, userId: member.id, role: null });
  expect(await insertMember(connected.db)(other, { ...member, id: newUuid() }, LIMITS.members)).toBe('missing');
});

test('nobody joins an account while it is erased', async () => {
  for (let n = 0; n < 20; n += 1) {
    const { id: accountId, userIds } = await account('owner');
    const invitations = await Promise.all(Array.from({ length: 5 }, () => invite(accountId, userIds[0])));
    await Promise.all([...invitations.map(join), eraseAccount(connected.db)(accountId, NOW, NOW)]);
    expect(await listMembers(connected.db)(accountId)).toEqual([]);
  }
});

const save = (db: Queryable, accountId: string) => {
  const secret = { secretSealed: new Uint8Array([1]), secretPrefix: 'whsec_aa', configuredAt: NOW };
  return saveWebhook(db)({ accountId, url: 'https://example.com/', ...secret });
};

test('an account that was erased gets neither an endpoint nor a key', async () => {
  const { id: accountId } = await account('owner');
  await eraseAccount(connected.db)(accountId, NOW, NOW);
  const key = { id: newUuid(), name: 'Key', test: false, hash: randomBytes(32), hint: 'abcd' };
  expect(await save(connected.db, accountId)).toBe(false);
  expect(await insertApiKey(connected.db)(accountId, key, NOW, 200)).toBe(false);
  const where = { accountId };
  expect([await connected.db.webhook.count({ where }), await connected.db.apiKey.count({ where })]).toEqual([0, 0]);
});

/** Waits until one statement waits for a lock. */
const untilWaiting = () => until('it to wait for the account', async () => (await countWaiting(connected.db)) === 1);

test('an endpoint that is saved at the moment at which its account is erased is deleted with it', async () => {
  const { id: accountId } = await account('owner');
  const { erasing } = await connected.db.$transaction(async (tx) => {
    expect(await save(tx, accountId)).toBe(true);
    const started = eraseAccount(connected.db)(accountId, NOW, NOW);
    started.catch(() => undefined);
    await untilWaiting();
    return { erasing: started };
  });
  expect(await erasing).toMatchObject({ kind: 'erased' });
  expect(await connected.db.webhook.count({ where: { accountId } })).toBe(0);
});

test('an account that is enabled at the moment at which it is to be erased is not erased', async () => {
  const { id: accountId } = await account('owner');
  const { erasing } = await connected.db.$transaction(async (tx) => {
    await tx.account.update({ where: { id: accountId }, data: { disabledAt: null } });
    const started = eraseAccount(connected.db)(accountId, NOW, NOW);
    started.catch(() => undefined);
    await untilWaiting();
    return { erasing: started };
  });
  expect(await erasing).toEqual({ kind: 'enabled', disabledAt: null });
  expect(await listMembers(connected.db)(accountId)).toHaveLength(1);
});

test('deletes only expired invitations', async () => {
  const { id: accountId, userIds } = await account('owner');
  const [expired, pending] = [await invite(accountId, userIds[0], NOW), await invite(accountId, userIds[0])];
  await deleteExpiredInvitations(connected.db)(NOW);
  expect(await connected.db.invitation.count({ where: { accountId } })).toBe(1);
  expect(await findInvitation(connected.db)(expired.tokenHash, NOW)).toBeNull();
  expect(await findInvitation(connected.db)(pending.tokenHash, NOW)).toMatchObject({ accountId, email: null });
});
