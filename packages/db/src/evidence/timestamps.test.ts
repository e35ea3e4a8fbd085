import { newUuid } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { evidenceAge } from './retention.js';
import { dueStamps, findPendingStamp, requestStamp } from './timestamps.js';

const connected = testDatabase(2);

const insertCheck = async (id: string, accountId: string): Promise<void> => {
  await connected.db.$executeRaw`
    INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
    VALUES (${id}::uuid, ${accountId}::uuid, ${newUuid()}::uuid, false, 'DE123456789', true, now(), '\\x01'::bytea,
      sha256('\\x01'::bytea))`;
};

test('a time-stamp whose check was deleted at the moment of its request does not stay due, and others do', async () => {
  const { db } = connected;
  const [account, deleted, stored] = [newUuid(), newUuid(), newUuid()];
  const now = new Date();
  for (const id of [deleted, stored]) {
    await insertCheck(id, account);
    await requestStamp(db)(id, account, now);
  }
  // What the retention, whose statement began before the request, did not see.
  await db.$executeRaw`DELETE FROM "check" WHERE id = ${deleted}::uuid`;
  const due = async () =>
    (await dueStamps(db)(new Date(now.getTime() + 1), null, 10)).map(({ subjectId }) => subjectId);
  expect((await due()).toSorted()).toEqual([deleted, stored].toSorted());
  expect(await findPendingStamp(db)(deleted)).toBeNull();
  expect((await findPendingStamp(db)(stored))?.subjectId).toBe(stored);
  expect(await due()).toEqual([stored]);
  expect((await evidenceAge(db)()).stamps.check.pending).toBe(1);
});
