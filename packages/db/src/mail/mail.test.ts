import {
  MAIL_INTERVAL_MS,
  MAIL_ITEM_RETENTION_MS,
  MAIL_RETENTION_MS,
  type MailKind,
  newUuid,
  newUuidAt,
} from '@vat/domain';
import { until } from '@vat/testkit';
import { setAccountPlan } from '../account/accounts.js';
import { deleteInvitation, insertInvitation } from '../account/invitations.js';
import { Prisma } from '../generated/client.js';
import { query } from '../query.js';
import { countWaiting, testDatabase } from '../test-database.fixture.js';
import { publishToAccount } from '../webhook/events.js';
import { createMail, deleteOldMail, listReachedQuotas, listWaitingItems, noteQuota } from './mail-items.js';
import { changeMailChoice, findMailChoice } from './mail-kinds.js';
import { claimMail, deleteMail, listDueMails, readMailFacts, recordMail, releaseMail } from './mails.js';

const connected = testDatabase(6, 10_000);

const NOW = new Date('2026-11-23T10:00:00Z');
const LATER = new Date(NOW.getTime() + 600_000);
const after = (ms: number) => new Date(NOW.getTime() + ms);
const ALL: Record<MailKind, boolean> = {
  ...{ failed_deliveries: true, quota: true, completed_batches: true, watch_changes: true },
};

const FREE = { plan: 'free', monthlyQuota: null } as const;

type Owner = { accountId: string; userId: string };

const owner = async (choice: Partial<Record<MailKind, boolean>> = {}): Promise<Owner> => {
  const [accountId, userId] = [newUuid(), newUuid()];
  await connected.db
    .$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${accountId}::uuid, 'A', 'free', now())`;
  await connected.db.$executeRaw`
    INSERT INTO app_user (id, account_id, email, password_hash, created_at)
    VALUES (${userId}::uuid, ${accountId}::uuid, ${`${userId}@example.com`}, '', now())`;
  await changeMailChoice(connected.db)(userId, choice);
  return { accountId, userId };
};
const itemsOf = async ({ userId }: Owner): Promise<string[]> => {
  const rows = await query(connected.db, { text: 'text' })`
    SELECT kind || ' ' || subject_id AS text FROM mail_item WHERE user_id = ${userId}::uuid ORDER BY 1`;
  return rows.map(({ text }) => text);
};
const addItems = (of: Owner, kind: MailKind, subjectIds: string[], at = NOW) => connected.db.$executeRaw`
  INSERT INTO mail_item (user_id, kind, subject_id, happened_at)
  SELECT ${of.userId}::uuid, ${kind}, id, ${at}::timestamptz FROM unnest(${subjectIds}::uuid[]) AS id`;
const mailsOf = ({ userId }: Owner) => connected.db.mail.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } });
/** Makes a mail of failed deliveries. */
const create = (of: Owner, now = NOW, id = newUuid()) =>
  createMail(connected.db)({
    ...{ id, userId: of.userId, kind: 'failed_deliveries' as const },
    ...{ sentSince: new Date(now.getTime() - MAIL_INTERVAL_MS), now },
  });
const waitingOf = async (of: Owner, now = NOW) =>
  (await listWaitingItems(connected.db)(null, new Date(now.getTime() - MAIL_INTERVAL_MS), 500)).filter(
    ({ userId }) => userId === of.userId,
  );
const endMail = async (of: Owner, state: 'sent' | 'failed', at: Date): Promise<void> => {
  const [pending] = (await mailsOf(of)).filter((mail) => mail.state === 'pending');
  if (!pending) throw new Error('no mail is on its way');
  await recordMail(connected.db)(pending, state === 'sent' ? { state, at } : { state, at, error: 'E' });
};

test('new users get mail about failed deliveries and the quota, and turn each kind on or off', async () => {
  const { userId } = await owner();
  const choice = findMailChoice(connected.db);
  const change = changeMailChoice(connected.db);
  expect(await choice(userId)).toEqual({ ...ALL, completed_batches: false, watch_changes: false });
  expect(await change(userId, { quota: false, watch_changes: true })).toEqual({
    ...ALL,
    quota: false,
    completed_batches: false,
  });
  expect(await change(userId, {})).toEqual({ ...ALL, quota: false, completed_batches: false });
  expect(await choice(userId)).toEqual({ ...ALL, quota: false, completed_batches: false });
  await connected.db
    .$executeRaw`UPDATE app_user SET mail_kinds = mail_kinds || '{of_a_later_release}' WHERE id = ${userId}::uuid`;
  await change(userId, { quota: true });
  const user = await connected.db.user.findUnique({ where: { id: userId } });
  expect(user?.mailKinds.toSorted()).toEqual(['failed_deliveries', 'of_a_later_release', 'quota', 'watch_changes']);
  expect([await choice(newUuid()), await change(newUuid(), { quota: true })]).toEqual([null, null]);
});

test('events are written down for the users of their account who want to know, with their subject', async () => {
  const [one, other] = [await owner(ALL), await owner()];
  const publish = async (of: Owner, type: 'batch.completed' | 'watch.changed' | 'check.completed', test = false) => {
    const subject = newUuid();
    const about = Prisma.sql`SELECT ${subject}::uuid, ${of.accountId}::uuid, ${test}::boolean`;
    await connected.db
      .$executeRaw`WITH ${publishToAccount({ id: newUuid(), type, body: '{}' }, newUuid(), NOW, about)} SELECT 1 FROM sent`;
    return subject;
  };
  const batch = await publish(one, 'batch.completed');
  const change = await publish(one, 'watch.changed');
  await publish(one, 'check.completed');
  await publish(one, 'batch.completed', true);
  await publish(other, 'batch.completed');
  expect(await itemsOf(one)).toEqual([`completed_batches ${batch}`, `watch_changes ${change}`]);
  expect(await itemsOf(other)).toEqual([]);
});

test('a delivery is written down when it has finally failed, unless its user ended it or tested the endpoint', async () => {
  const of = await owner(ALL);
  const deliver = async (type: string, to: string, { error = 'TIMEOUT', test = false } = {}) => {
    const id = newUuidAt(new Date());
    await connected.db.$executeRaw`
      INSERT INTO delivery (id, account_id, event_id, event_type, test, state, created_at, next_attempt_at)
      VALUES (${id}::uuid, ${of.accountId}::uuid, ${newUuid()}::uuid, ${type}, ${test}, 'pending', now(), now())`;
    await connected.db.$executeRaw`
      UPDATE delivery SET state = ${to}, last_error = ${error}, last_attempt_at = ${NOW}::timestamptz,
        next_attempt_at = CASE WHEN ${to} = 'pending' THEN now() END
      WHERE id = ${id}::uuid`;
    return id;
  };
  const failed = await deliver('check.completed', 'failed');
  for (const state of ['pending', 'successful']) await deliver('check.completed', state);
  await deliver('check.completed', 'failed', { error: 'WEBHOOK_REMOVED' });
  await deliver('check.completed', 'failed', { test: true });
  await deliver('webhook.test', 'failed');
  expect(await itemsOf(of)).toEqual([`failed_deliveries ${failed}`]);
  await create(of, new Date());
  const [mail] = await mailsOf(of);
  expect(
    await readMailFacts(connected.db)({
      ...of,
      kind: 'failed_deliveries',
      subjectIds: mail?.subjectIds ?? [],
      createdAt: NOW,
    }),
  ).toEqual({
    kind: 'failed_deliveries',
    deliveries: [{ id: failed, eventType: 'check.completed', statusCode: null, error: 'TIMEOUT', at: NOW }],
  });
});

test('a member who is removed at the moment at which something happens is left out, and nothing fails', async () => {
  const [leaving, staying] = [await owner(ALL), newUuid()];
  const { accountId, userId } = leaving;
  await connected.db.$executeRaw`
    INSERT INTO app_user (id, account_id, email, password_hash, created_at, mail_kinds)
    VALUES (${staying}::uuid, ${accountId}::uuid, ${`${staying}@example.com`}, '', now(), '{quota,completed_batches}')`;
  await addItems(leaving, 'failed_deliveries', [newUuid()]);
  await connected.db
    .$executeRaw`INSERT INTO usage (account_id, period, used) VALUES (${accountId}::uuid, '2026-11', 80)`;
  const batch = newUuid();
  const about = Prisma.sql`SELECT ${batch}::uuid, ${accountId}::uuid, false`;
  const event = { id: newUuid(), type: 'batch.completed' as const, body: '{}' };
  const { working } = await connected.db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM app_user WHERE id = ${userId}::uuid FOR UPDATE`;
    const started = Promise.all([
      connected.db.$executeRaw`WITH ${publishToAccount(event, newUuid(), NOW, about)} SELECT 1 FROM sent`,
      noteQuota(connected.db)({ accountId, ...FREE, period: '2026-11', percent: 80, now: NOW }),
      create(leaving),
    ]);
    started.catch(() => undefined);
    await until('them to wait for the user', async () => (await countWaiting(connected.db)) === 3);
    await tx.$executeRaw`DELETE FROM app_user WHERE id = ${userId}::uuid`;
    return { working: started };
  });
  const [, , made] = await working;
  expect(made).toBe(false);
  expect(await itemsOf({ accountId, userId: staying })).toEqual([`completed_batches ${batch}`, `quota ${accountId}`]);
});

test('a share of the quota is written down once a month, and a higher one once more', async () => {
  const [of, without] = [await owner(), await owner({ quota: false })];
  for (const { accountId } of [of, without])
    await connected.db
      .$executeRaw`INSERT INTO usage (account_id, period, used, reserved) VALUES (${accountId}::uuid, '2026-11', 79, 5)`;
  const usage = async () =>
    (await listReachedQuotas(connected.db)('2026-11', 500)).find(({ accountId }) => accountId === of.accountId);
  expect(await usage()).toEqual({
    ...{ accountId: of.accountId, plan: 'free', monthlyQuota: null, taken: 84, mailedPercent: 0 },
  });
  const note = (percent: number) =>
    noteQuota(connected.db)({ accountId: of.accountId, ...FREE, period: '2026-11', percent, now: NOW });
  await Promise.all([note(80), note(80)]);
  await noteQuota(connected.db)({ accountId: without.accountId, ...FREE, period: '2026-11', percent: 80, now: NOW });
  expect([await itemsOf(of), await itemsOf(without)]).toEqual([[`quota ${of.accountId}`], []]);
  expect(await usage()).toBeUndefined();
  const facts = () => readMailFacts(connected.db)({ ...of, kind: 'quota', subjectIds: [of.accountId], createdAt: NOW });
  expect(await facts()).toEqual({ kind: 'quota', percent: 80, taken: 84, quota: 100, period: '2026-11' });
  await connected.db.$executeRaw`DELETE FROM mail_item`;
  await note(80);
  expect(await itemsOf(of)).toEqual([]);
  await connected.db.$executeRaw`UPDATE usage SET used = 95 WHERE account_id = ${of.accountId}::uuid`;
  expect(await usage()).toMatchObject({ taken: 100, mailedPercent: 80 });
  await note(100);
  expect([await itemsOf(of), (await facts())?.kind]).toEqual([[`quota ${of.accountId}`], 'quota']);
  expect(await usage()).toBeUndefined();
  expect(
    await readMailFacts(connected.db)({ ...of, kind: 'quota', subjectIds: [], createdAt: new Date('2026-12-01') }),
  ).toBeNull();
});

test('another plan has another quota, whose shares are written down again; a quota of its own stays', async () => {
  const [of, withOwn] = [await owner(), await owner()];
  await connected.db.$executeRaw`UPDATE account SET monthly_quota = 100 WHERE id = ${withOwn.accountId}::uuid`;
  for (const { accountId } of [of, withOwn])
    await connected.db
      .$executeRaw`INSERT INTO usage (account_id, period, used, mailed_percent) VALUES (${accountId}::uuid, '2026-11', 100, 100)`;
  const mailed = async () => {
    const usage = await query(connected.db, { accountId: 'uuid', percent: 'int4' })`
      SELECT account_id AS "accountId", mailed_percent AS percent FROM usage`;
    return [of, withOwn].map((one) => usage.find(({ accountId }) => accountId === one.accountId)?.percent);
  };
  const move = setAccountPlan(connected.db);
  expect([await move(of.accountId, 'free'), await mailed()]).toEqual([true, [100, 100]]);
  await Promise.all([of, withOwn].map(({ accountId }) => move(accountId, 'starter')));
  expect(await mailed()).toEqual([0, 100]);
  expect(await move(newUuid(), 'starter')).toBe(false);
});

test('a share that was reached on the plan before is not written down for the new one', async () => {
  const [moved, moving] = [await owner(), await owner()];
  for (const { accountId } of [moved, moving])
    await connected.db
      .$executeRaw`INSERT INTO usage (account_id, period, used) VALUES (${accountId}::uuid, '2026-11', 100)`;
  const note = ({ accountId }: Owner) =>
    noteQuota(connected.db)({ accountId, ...FREE, period: '2026-11', percent: 100, now: NOW });
  await setAccountPlan(connected.db)(moved.accountId, 'starter');
  await note(moved);
  const { noted } = await connected.db.$transaction(async (tx) => {
    await tx.account.update({ where: { id: moving.accountId }, data: { plan: 'starter' } });
    const noting = note(moving);
    noting.catch(() => undefined);
    await until('it to wait for the account', async () => (await countWaiting(connected.db)) === 1);
    return { noted: noting };
  });
  await noted;
  for (const one of [moved, moving]) {
    expect(await connected.db.usage.findMany({ where: { accountId: one.accountId } })).toMatchObject([
      { mailedPercent: 0 },
    ]);
    expect(await itemsOf(one)).toEqual([]);
  }
});

test('a share that a delayed mail has named is in no further mail; one that is reached after it was written is', async () => {
  const of = await owner();
  await connected.db
    .$executeRaw`INSERT INTO usage (account_id, period, used) VALUES (${of.accountId}::uuid, '2026-11', 80)`;
  const note = (percent: number) =>
    noteQuota(connected.db)({ accountId: of.accountId, ...FREE, period: '2026-11', percent, now: NOW });
  const [id, sentSince] = [newUuid(), after(-MAIL_INTERVAL_MS)];
  await note(80);
  expect(await createMail(connected.db)({ id, userId: of.userId, kind: 'quota', sentSince, now: NOW })).toBe(true);
  const factsOf = () => readMailFacts(connected.db)({ ...of, kind: 'quota', subjectIds: [], createdAt: NOW });
  const before = await factsOf();
  await connected.db.$executeRaw`UPDATE usage SET used = 100 WHERE account_id = ${of.accountId}::uuid`;
  await note(100);
  const record = recordMail(connected.db);
  const sent = { state: 'sent', at: LATER } as const;
  await record({ id, attempts: 0 }, { state: 'pending', nextAttemptAt: NOW, error: 'E' }, await factsOf());
  await record({ id, attempts: 0 }, sent, before);
  expect(await itemsOf(of)).toEqual([`quota ${of.accountId}`]);
  await record({ id, attempts: 0 }, sent, await factsOf());
  expect(await itemsOf(of)).toEqual([]);
  await connected.db.$executeRaw`
    INSERT INTO mail_item (user_id, kind, subject_id, happened_at)
    VALUES (${of.userId}::uuid, 'quota', ${of.accountId}::uuid, '2026-12-01')`;
  await record({ id, attempts: 0 }, sent, await factsOf());
  expect(await itemsOf(of)).toHaveLength(1);
});

test('what happens while a mail is on its way, and for an hour after it was sent, is in the next one', async () => {
  const of = await owner();
  const ids = Array.from({ length: 7 }, (_, n) => newUuidAt(after(n)));
  await addItems(of, 'failed_deliveries', ids);
  expect(await waitingOf(of)).toEqual([{ userId: of.userId, kind: 'failed_deliveries', isFree: true }]);
  expect(await create(of)).toBe(true);
  expect(await mailsOf(of)).toMatchObject([
    { state: 'pending', itemCount: 7, subjectIds: ids.slice(0, 5), attempts: 0 },
  ]);
  expect([await itemsOf(of), await waitingOf(of)]).toEqual([[], []]);

  await addItems(of, 'failed_deliveries', [newUuid()]);
  expect([await create(of), (await waitingOf(of))[0]?.isFree]).toEqual([false, false]);
  await endMail(of, 'sent', LATER);
  const tooEarly = new Date(LATER.getTime() + MAIL_INTERVAL_MS - 1);
  const inTime = new Date(LATER.getTime() + MAIL_INTERVAL_MS);
  expect([await create(of, tooEarly), (await waitingOf(of, tooEarly))[0]?.isFree]).toEqual([false, false]);
  expect(await itemsOf(of)).toHaveLength(1);
  expect([(await waitingOf(of, inTime))[0]?.isFree, await create(of, inTime)]).toEqual([true, true]);
  // A mail that was given up reached nobody.
  await endMail(of, 'failed', inTime);
  await addItems(of, 'failed_deliveries', [newUuid()]);
  expect(await create(of, inTime)).toBe(true);
  expect((await mailsOf(of)).map(({ state, itemCount }) => [state, itemCount])).toEqual([
    ['sent', 7],
    ['failed', 1],
    ['pending', 1],
  ]);
});

test('of processes that make the same mail at the same time one does, and nothing is in two mails', async () => {
  const of = await owner();
  await addItems(of, 'failed_deliveries', Array.from({ length: 50 }, newUuid));
  const created = await Promise.allSettled(Array.from({ length: 4 }, () => create(of)));
  expect(created.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(1);
  expect((await mailsOf(of)).map(({ itemCount }) => itemCount)).toEqual([50]);
  expect(await itemsOf(of)).toEqual([]);
});

test('the users for whom something waits are read page by page', async () => {
  const owners = await Promise.all(Array.from({ length: 5 }, () => owner()));
  for (const of of owners)
    for (const kind of ['quota', 'failed_deliveries'] as const)
      await addItems(of, kind, [newUuid(), newUuid(), newUuid()]);
  const found: string[] = [];
  for (let last: { userId: string; kind: MailKind } | null = null, size = 3; size === 3; ) {
    const page: Awaited<ReturnType<typeof waitingOf>> = await listWaitingItems(connected.db)(last, NOW, 3);
    found.push(...page.map(({ userId, kind }) => `${userId} ${kind}`));
    [last, size] = [page.at(-1) ?? null, page.length];
  }
  const expected = owners.flatMap(({ userId }) => [`${userId} failed_deliveries`, `${userId} quota`]);
  expect(found.filter((one) => expected.includes(one))).toEqual(expected.toSorted());
  expect(new Set(found).size).toBe(found.length);
});

test('an attempt is claimed once until its lease ends; what was cancelled is due again and does not count', async () => {
  const of = await owner();
  await addItems(of, 'failed_deliveries', [newUuid()]);
  const id = newUuid();
  await create(of, NOW, id);
  const claim = (at: Date, until: Date) => claimMail(connected.db)(id, at, until);
  expect(await listDueMails(connected.db)(after(-1), 1_000)).not.toContain(id);
  expect(await listDueMails(connected.db)(NOW, 1_000)).toContain(id);
  const claims = await Promise.all([claim(NOW, LATER), claim(NOW, LATER)]);
  expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['claimed', 'not_yet']);
  const [claimed] = claims.filter((one) => one.kind === 'claimed');
  expect(claimed?.mail).toMatchObject({ ...of, id, attempts: 1, isWanted: true, accountName: 'A', createdAt: NOW });
  expect(await listDueMails(connected.db)(NOW, 1_000)).not.toContain(id);
  expect(await claim(NOW, LATER)).toEqual({ kind: 'not_yet', at: LATER });

  await releaseMail(connected.db)({ id, attempts: 1 }, NOW);
  await changeMailChoice(connected.db)(of.userId, { failed_deliveries: false });
  expect(await claim(NOW, LATER)).toMatchObject({ kind: 'claimed', mail: { attempts: 1, isWanted: false } });
  // The next process took over; what the first one reports late is no longer of interest.
  expect(await claim(LATER, after(1_200_000))).toMatchObject({ kind: 'claimed', mail: { attempts: 2 } });
  await recordMail(connected.db)({ id, attempts: 1 }, { state: 'failed', at: LATER, error: 'E' });
  expect((await mailsOf(of))[0]?.state).toBe('pending');
  await recordMail(connected.db)({ id, attempts: 2 }, { state: 'sent', at: LATER });
  expect(await claim(LATER, LATER)).toEqual({ kind: 'settled' });
});

test('items of a day ago, and mail that ended a month ago, are deleted; what is on its way stays', async () => {
  const of = await owner();
  const old = new Date(NOW.getTime() - MAIL_RETENTION_MS - 1);
  await addItems(of, 'failed_deliveries', [newUuid()]);
  await create(of, old);
  await endMail(of, 'sent', old);
  await addItems(of, 'failed_deliveries', [newUuid()]);
  await create(of, new Date(old.getTime() + MAIL_INTERVAL_MS + 1));
  await addItems(of, 'quota', [of.accountId], new Date(NOW.getTime() - MAIL_ITEM_RETENTION_MS - 1));
  const kept = newUuid();
  await addItems(of, 'failed_deliveries', [kept], new Date(NOW.getTime() - MAIL_ITEM_RETENTION_MS + 1));
  await deleteOldMail(connected.db)(NOW);
  expect(await itemsOf(of)).toEqual([`failed_deliveries ${kept}`]);
  expect((await mailsOf(of)).map(({ state }) => state)).toEqual(['pending']);
  // Mail and items go with their user.
  await connected.db.user.delete({ where: { id: of.userId } });
  expect([await itemsOf(of), await mailsOf(of)]).toEqual([[], []]);
});

test('an invitation is mailed by one process at a time, until it was sent or is left to its link', async () => {
  const { db } = connected;
  const { accountId, userId } = await owner();
  const invitation = async (expiresAt = after(86_400_000)): Promise<string> => {
    const id = newUuid();
    await insertInvitation(db)(
      {
        ...{ id, accountId, invitedBy: userId, role: 'auditor', email: `${id}@example.com`, createdAt: NOW, expiresAt },
        ...{ tokenHash: Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.alloc(16)]), mailDueAt: NOW },
      },
      { members: 100, invitations: 100 },
    );
    return id;
  };
  const id = await invitation();
  const isDue = async (at: Date) => (await listDueMails(db)(at, 1_000)).includes(id);
  const claim = (at: Date, mailId = id) => claimMail(db)(mailId, at, new Date(at.getTime() + 600_000));
  expect(await isDue(NOW)).toBe(true);
  const first = await claim(NOW);
  expect(first).toMatchObject({
    kind: 'claimed',
    mail: { kind: 'invitation', email: `${userId}@example.com`, accountName: 'A', attempts: 1, isWanted: true },
  });
  if (first.kind !== 'claimed') throw new Error('the mail was not claimed');
  const facts = { kind: 'invitation', id, email: `${id}@example.com`, role: 'auditor', expiresAt: after(86_400_000) };
  expect(await readMailFacts(db)(first.mail)).toEqual(facts);
  expect(await claim(after(1_000))).toEqual({ kind: 'not_yet', at: LATER });
  await releaseMail(db)({ id, attempts: 1 }, NOW);
  expect(await claim(NOW)).toMatchObject({ kind: 'claimed', mail: { attempts: 1 } });
  await recordMail(db)({ id, attempts: 1 }, { state: 'pending', nextAttemptAt: after(5_000), error: 'E' });
  expect(await claim(NOW)).toEqual({ kind: 'not_yet', at: after(5_000) });
  // A late result of the first attempt changes nothing beside the second.
  expect(await claim(after(5_000))).toMatchObject({ kind: 'claimed', mail: { attempts: 2 } });
  await recordMail(db)({ id, attempts: 1 }, { state: 'sent', at: after(6_000) });
  expect(await claim(after(6_000))).toMatchObject({ kind: 'not_yet' });
  await recordMail(db)({ id, attempts: 2 }, { state: 'sent', at: after(6_000) });
  expect(await claim(after(700_000))).toEqual({ kind: 'settled' });
  expect(await isDue(after(700_000))).toBe(false);
  const [discarded, expired, revoked] = [await invitation(), await invitation(NOW), await invitation()];
  await deleteMail(db)(discarded);
  expect(await claim(NOW, discarded)).toEqual({ kind: 'settled' });
  await deleteInvitation(db)(accountId, revoked);
  for (const ended of [expired, revoked])
    expect(await claim(NOW, ended)).toMatchObject({ kind: 'claimed', mail: { isWanted: false } });
  expect(await readMailFacts(db)({ ...first.mail, subjectIds: [revoked] })).toBeNull();
});
