import type { CreateWatch, RecordedChange, Watch, WatchCreation, WatchFrequency, WatchState } from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindAnswer } from '../idempotency-keys.js';
import { all, columns, query, selectList, typed } from '../query.js';
import { transact } from '../transaction.js';

const WATCH = columns({
  ...all('uuid', 'id', 'accountId'),
  vatNumber: 'text',
  label: 'text?',
  frequency: typed<WatchFrequency>('text'),
  state: typed<WatchState>('text'),
  ...all('timestamptz', 'createdAt', 'nextCheckAt'),
  ...all('uuid?', 'requestId', 'lastCheckId'),
  ...all('timestamptz?', 'lastCheckedAt', 'missedSince'),
});
const WATCH_LIST = selectList('w', WATCH);

/** A row of `watch_change`; its kind determines the type of its values. */
const CHANGE = columns({
  ...all('uuid', 'id', 'checkId'),
  kind: typed<RecordedChange['kind']>('text'),
  before: typed<RecordedChange['before']>('jsonb?'),
  after: typed<RecordedChange['after']>('jsonb?'),
  changedAt: 'timestamptz',
});

/** A change with its watch, for a query with the aliases `watch_change` c and `watch` w. */
export const ACCOUNT_CHANGE = columns({ ...CHANGE, watchId: 'uuid', vatNumber: 'text', label: 'text?' });
export const ACCOUNT_CHANGE_LIST = Prisma.sql`${selectList('c', CHANGE)}, w.id AS "watchId", w.vat_number AS "vatNumber",
  w.label`;

/** One watch of an account; `null` when the account has no such watch. */
export const findWatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Watch | null> => {
    const [row] = await query(db, WATCH)`
      SELECT ${WATCH_LIST} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid`;
    return row ?? null;
  };

/** Watches of an account before `beforeId`, newest first. */
export const listWatches =
  (db: Queryable) =>
  (accountId: string, beforeId: string | null, limit: number): Promise<Watch[]> =>
    query(db, WATCH)`
      SELECT ${WATCH_LIST} FROM watch w
      WHERE w.account_id = ${accountId}::uuid ${beforeId ? Prisma.sql`AND w.id < ${beforeId}::uuid` : Prisma.empty}
      ORDER BY w.id DESC LIMIT ${limit}::int`;

/** Changes of an account's watch before `beforeId`, newest first; `null` when the account has no such watch. */
export const listChanges =
  (db: Queryable) =>
  async (
    watchId: string,
    accountId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<RecordedChange[] | null> => {
    if ((await findWatch(db)(watchId, accountId)) === null) return null;
    const rows = await query(db, CHANGE)`
      SELECT ${selectList('c', CHANGE)} FROM watch_change c
      WHERE c.watch_id = ${watchId}::uuid ${beforeId ? Prisma.sql`AND c.id < ${beforeId}::uuid` : Prisma.empty}
      ORDER BY c.id DESC LIMIT ${limit}::int`;
    return rows as RecordedChange[];
  };

/**
 * Creates a watch, due at once, and binds its Idempotency-Key with the answer, or changes nothing. The row of the account is
 * locked first, so that concurrent calls can neither exceed the limit nor create a watch twice.
 */
export const createWatch =
  (db: Database): CreateWatch =>
  (watch, limit, idempotency) =>
    transact<WatchCreation>(db, async (tx, refuse) => {
      const { accountId, createdAt } = watch;
      await lockAccount(tx, accountId);
      const bound = idempotency === null || (await bindAnswer(tx)(accountId, idempotency, createdAt));
      if (!bound) return { kind: 'key_taken' };
      const [others] = await query(tx, { n: 'int4', same: 'bool' })`
          SELECT count(*)::int AS n, COALESCE(bool_or(vat_number = ${watch.vatNumber}), false) AS same
          FROM watch WHERE account_id = ${accountId}::uuid`;
      if (others?.same) return refuse({ kind: 'exists' });
      if ((others?.n ?? 0) >= limit) return refuse({ kind: 'limit_reached' });
      await tx.$executeRaw`
          INSERT INTO watch (id, account_id, vat_number, country_code, national, input, label, requester, frequency, state,
            created_at, next_check_at)
          VALUES (${watch.id}::uuid, ${accountId}::uuid, ${watch.vatNumber}, ${watch.memberState}, ${watch.national},
            ${watch.input}, ${watch.label}, ${watch.requester}, ${watch.frequency}, 'active',
            ${createdAt}::timestamptz, ${createdAt}::timestamptz)`;
      return { kind: 'created' };
    });

const countActive = async (tx: Queryable, accountId: string): Promise<number> => {
  const [active] = await query(tx, { n: 'int4' })`
    SELECT count(*)::int AS n FROM watch WHERE account_id = ${accountId}::uuid AND state = 'active'`;
  return active?.n ?? 0;
};

/**
 * Changes a watch: `amend` receives it and returns the new version; an error of `amend` changes nothing. For a paused watch
 * `amend` also receives the number of the account's active watches, which only resuming needs, since up to 50 000 have to be
 * counted. The row of the account is locked first, so that the number stays correct. `null` when the account has no such
 * watch.
 */
export const changeWatch =
  (db: Database) =>
  (id: string, accountId: string, amend: (watch: Watch, active: number | null) => Watch): Promise<Watch | null> =>
    db.$transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const [watch] = await query(tx, WATCH)`
        SELECT ${WATCH_LIST} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid FOR UPDATE`;
      if (!watch) return null;
      const amended = amend(watch, watch.state === 'paused' ? await countActive(tx, accountId) : null);
      await tx.$executeRaw`
        UPDATE watch SET label = ${amended.label}, frequency = ${amended.frequency}, state = ${amended.state},
          next_check_at = ${amended.nextCheckAt}::timestamptz WHERE id = ${id}::uuid`;
      return amended;
    });

/**
 * Deletes a watch with its changes; false when the account has no such watch. Its checks are not deleted, and a run in
 * progress ends as a check without a watch.
 */
export const deleteWatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<boolean> =>
    (await db.$executeRaw`DELETE FROM watch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid`) > 0;
