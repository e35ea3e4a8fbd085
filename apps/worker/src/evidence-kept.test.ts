import { deleteOldEvidence, eraseAccount, requestStamp, setAccountDisabled } from '@vat/db';
import { newUuid, newUuidAt } from '@vat/domain';
import { type EvidenceFixture, now, openEvidenceFixture, sha256 } from './evidence-fixture.fixture.js';

let ground: EvidenceFixture;
beforeEach(async () => {
  ground = await openEvidenceFixture();
});
afterEach(() => ground?.stop());

const YEAR_MS = 365.25 * 86_400_000;
const ago = (years: number) => new Date(now().getTime() - years * YEAR_MS);
const closeAndStamp = async () => {
  const closing = await ground.close();
  if (closing.kind !== 'closed') throw new Error('not closed');
  await ground.stamp(closing.anchor.id);
};
const count = async (table: string, where = 'true'): Promise<number> => {
  const [row] = await ground.db.$queryRawUnsafe<{ n: number }[]>(
    `SELECT count(*)::int AS n FROM "${table}" WHERE ${where}`,
  );
  return row?.n ?? -1;
};
const counts = async (tables: readonly string[]) =>
  Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(table)])));
const PERSONAL = ['check', 'request', 'exchange', 'event', 'delivery'];

describe('retention of evidence', () => {
  test('older evidence is deleted with everything about it, younger evidence stays; anchors and proofs verify', async () => {
    const accountId = await ground.insertAccount();
    const old = await ground.insertChecks(120, { accountId, at: ago(10.1) });
    const young = await ground.insertChecks(30, { accountId, at: ago(9.9) });
    for (const { id } of [...old.slice(0, 2), ...young.slice(0, 2)]) {
      await requestStamp(ground.db)(id, accountId, now());
      await ground.stamp(id);
    }
    await closeAndStamp();
    expect(await deleteOldEvidence(ground.db)(ago(10))).toEqual({ requests: 120, events: 0, changes: 0 });
    expect(await counts([...PERSONAL, 'usage_entry'])).toEqual({
      ...{ check: 30, request: 30, exchange: 30, event: 30, delivery: 30, usage_entry: 30 },
    });
    expect(await counts(['anchor', 'anchor_leaf', 'stamp'])).toEqual({ anchor: 1, anchor_leaf: 150, stamp: 3 });
    expect(await count('check', `id IN (${young.map(({ id }) => `'${id}'`).join()})`)).toBe(30);
    expect(await ground.verify()).toMatchObject({ anchors: 1, leaves: 150, stamps: 2, differences: [] });
    expect((await ground.prove(old.map(({ id }) => id))).size).toBe(120);
    expect(await deleteOldEvidence(ground.db)(ago(10))).toEqual({ requests: 0, events: 0, changes: 0 });
  });

  test('one run deletes a limited amount, and the next one continues', async () => {
    await ground.insertChecks(700, { at: ago(10.1) });
    const run = () => deleteOldEvidence(ground.db)(ago(10), 1);
    expect([await run(), await run(), await run()].map(({ requests }) => requests)).toEqual([500, 200, 0]);
  });

  test('a request that still waits stays, and so does one whose check is younger than the limit', async () => {
    const [waiting, late] = await ground.insertChecks(2, { at: ago(10.1) });
    await ground.db.$executeRaw`DELETE FROM "check" WHERE id = ${waiting?.id}::uuid`;
    await ground.db
      .$executeRaw`UPDATE request SET state = 'pending', check_id = NULL WHERE id = ${waiting?.requestId}::uuid`;
    const young = newUuid();
    await ground.db.$executeRaw`UPDATE "check" SET id = ${young}::uuid WHERE id = ${late?.id}::uuid`;
    await ground.db.$executeRaw`UPDATE request SET check_id = ${young}::uuid WHERE id = ${late?.requestId}::uuid`;
    expect(await deleteOldEvidence(ground.db)(ago(10))).toMatchObject({ requests: 0 });
    expect(await counts(['check', 'request', 'exchange'])).toEqual({ check: 1, request: 2, exchange: 2 });
  });

  test('other events are deleted by their own age, but not while one is being delivered', async () => {
    const accountId = newUuid();
    const insert = async (at: Date, state: string) => {
      const id = newUuidAt(at);
      await ground.db.$executeRaw`
        WITH told AS (
          INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
          VALUES (${id}::uuid, ${accountId}::uuid, 'watch.changed', ${newUuid()}::uuid, '{}', false, ${at}::timestamptz)
        )
        INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at)
        VALUES (${newUuid()}::uuid, ${accountId}::uuid, ${id}::uuid, ${state}, ${at}::timestamptz,
          ${state === 'pending' ? at : null}::timestamptz)`;
    };
    await insert(ago(10.1), 'failed');
    await insert(ago(10.1), 'pending');
    await insert(ago(9.9), 'failed');
    expect(await deleteOldEvidence(ground.db)(ago(10))).toMatchObject({ events: 1 });
    expect(await counts(['event', 'delivery'])).toEqual({ event: 2, delivery: 2 });
  });
});

describe('erasing an account', () => {
  const erase = (accountId: string) => eraseAccount(ground.db)(accountId, now(), now());
  const disable = (accountId: string) => setAccountDisabled(ground.db)(accountId, now());

  /** Every row that an account can have, once. */
  const fill = async (accountId: string) => {
    const id = `'${accountId}'`;
    const user = newUuid();
    for (const sql of [
      `INSERT INTO app_user VALUES ('${user}', ${id}, '${accountId}@example.com', 'hash', now())`,
      `INSERT INTO session VALUES (sha256('${user}'), '${user}', now(), now(), now())`,
      `INSERT INTO invitation (id, account_id, invited_by, token_hash, role, created_at, expires_at) VALUES (gen_random_uuid(), ${id}, '${user}', sha256('${user}'), 'member', now(), now())`,
      `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at) VALUES (gen_random_uuid(), ${id}, 'Ada', false, sha256('${user}'), 'abcd', now())`,
      `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES (${id}, 'https://ada.example/', '', 'whsec_aa', now())`,
      `INSERT INTO export_lease (account_id, holder, expires_at) VALUES (${id}, gen_random_uuid(), now())`,
      `INSERT INTO download_lease (account_id, place, holder, expires_at) VALUES (${id}, 1, gen_random_uuid(), now())`,
      `INSERT INTO batch_upload (id, account_id, lines, created_at) VALUES (gen_random_uuid(), ${id}, 1, now())`,
      `INSERT INTO check_day VALUES (${id}, '2026-11-20', 40, 0, 0)`,
      `INSERT INTO account_search VALUES ('pl_white_list', ${id}, '2026-11-20', 2, 1)`,
      `INSERT INTO usage VALUES (${id}, '2026-11', 3, 1)`,
      `INSERT INTO idempotency_key (account_id, key, fingerprint, created_at, locked_until) VALUES (${id}, 'k', '', now(), now())`,
      `WITH b AS (INSERT INTO batch (id, account_id, state, total, created_at) VALUES (gen_random_uuid(), ${id}, 'running', 1, now()) RETURNING id)
         INSERT INTO batch_line (id, batch_id, line, status, input, cells) SELECT gen_random_uuid(), id, 1, 'queued', 'DE1', '[]' FROM b`,
      `WITH c AS (INSERT INTO coverage (id, account_id, max_age_days, min_grade, width, total, covered, stale, weak, invalid, missing, created_at)
           VALUES (gen_random_uuid(), ${id}, 30, 'basic', 2, 1, 0, 0, 0, 0, 1, now()) RETURNING id)
         INSERT INTO coverage_line (id, coverage_id, line, status, input, supply_date, cells)
         SELECT gen_random_uuid(), id, 2, 'missing', 'DE1', '2026-11-20', '[]' FROM c`,
      `WITH w AS (INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
           VALUES (gen_random_uuid(), ${id}, 'DE1', 'DE', '1', 'DE1', 'daily', 'active', now(), now()) RETURNING id)
         INSERT INTO watch_change (id, watch_id, kind, check_id, changed_at) SELECT gen_random_uuid(), id, 'name', gen_random_uuid(), now() FROM w`,
      `WITH r AS (INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
           window_ends_at, due_at, quota_period) VALUES (gen_random_uuid(), ${id}, false, 'pending', 'DE2', 'DE', '2', 'DE2', '[]',
           now(), now(), now(), '2026-11') RETURNING id)
         INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body, request_sha256, complete)
         SELECT gen_random_uuid(), id, 'vies', now(), 1, 'POST', 'https://vies', '{}', '', '', false FROM r`,
      `INSERT INTO event (id, account_id, type, subject_id, body, test, created_at) VALUES (gen_random_uuid(), ${id}, 'batch.completed', gen_random_uuid(), '{}', false, now())`,
    ])
      expect(await ground.db.$executeRawUnsafe(sql)).toBeGreaterThan(0);
  };

  test('leaves its tombstone, its usage and its leaves; the other account and every anchor are as before', async () => {
    const [gone, other] = [await ground.insertAccount(), await ground.insertAccount()];
    const mine = await ground.insertChecks(40, { accountId: gone });
    const theirs = await ground.insertChecks(40, { accountId: other });
    for (const [id, accountId] of [
      [mine[0]?.id, gone],
      [theirs[0]?.id, other],
    ]) {
      await requestStamp(ground.db)(id ?? '', accountId ?? '', now());
      await ground.stamp(id ?? '');
    }
    await closeAndStamp();
    for (const accountId of [gone, other]) await fill(accountId);
    const tables = await ground.db.$queryRaw<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'account_id' AND table_schema = 'public'`;
    const rowsOf = async (accountId: string) =>
      Object.fromEntries(
        await Promise.all(tables.map(async ({ name }) => [name, await count(name, `account_id = '${accountId}'`)])),
      ) as Record<string, number>;
    const before = await rowsOf(other);
    expect(Object.entries(await rowsOf(gone)).filter(([, n]) => n === 0)).toEqual([]);

    await disable(gone);
    expect(await erase(gone)).toEqual({ kind: 'erased', requests: 41, events: 1, batches: 1, watches: 1 });
    const left = Object.entries(await rowsOf(gone)).filter(([, n]) => n > 0);
    expect(Object.fromEntries(left)).toEqual({ usage: 1, usage_entry: 40 });
    expect(await count('account', `id = '${gone}' AND name = 'erased' AND erased_at IS NOT NULL`)).toBe(1);
    expect(await count('usage', `account_id = '${gone}' AND used = 3 AND reserved = 0`)).toBe(1);
    expect(await counts(['session', 'batch_line', 'coverage_line', 'watch_change'])).toEqual({
      session: 1,
      batch_line: 1,
      coverage_line: 1,
      watch_change: 1,
    });
    expect(await count('exchange')).toBe(41);
    expect(await rowsOf(other)).toEqual(before);
    expect(await ground.verify()).toMatchObject({ anchors: 1, leaves: 80, stamps: 1, differences: [] });
    const proofs = await ground.prove(mine.map(({ id }) => id));
    expect(proofs.size).toBe(40);
    // Anyone who still has the bytes can prove them.
    expect(mine.every(({ bytes, hash }) => sha256(bytes).equals(hash))).toBe(true);

    expect(await erase(gone)).toMatchObject({ kind: 'erased', requests: 0 });
    expect(await setAccountDisabled(ground.db)(gone, null)).toBeNull();
  });

  test('requires an account that has been disabled for a while', async () => {
    const accountId = await ground.insertAccount();
    expect(await erase(accountId)).toEqual({ kind: 'enabled', disabledAt: null });
    await disable(accountId);
    const minuteAgo = new Date(now().getTime() - 60_000);
    expect(await eraseAccount(ground.db)(accountId, minuteAgo, now())).toMatchObject({ kind: 'enabled' });
    expect(await erase(newUuid())).toEqual({ kind: 'missing' });
    expect(await count('account', `name = 'Fixture'`)).toBe(1);
  });
});
