import type { CreateWatch, RecordedChange, Watch, WatchCreation } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindAnswer } from '../idempotency-keys.js';

/** The columns of the domain's watch, for a query with the alias `watch` w; listed, so that a named statement survives a migration. */
export const WATCH_COLUMNS = Prisma.sql`w.id, w.account_id AS "accountId", w.vat_number AS "vatNumber", w.label, w.frequency,
  w.state, w.created_at AS "createdAt", w.next_check_at AS "nextCheckAt", w.request_id AS "requestId",
  w.last_check_id AS "lastCheckId", w.last_checked_at AS "lastCheckedAt"`;

/** One watch of an account; `null` when the account has no such watch. */
export const findWatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Watch | null> => {
    const [row] = await db.$queryRaw<Watch[]>`
      SELECT ${WATCH_COLUMNS} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid`;
    return row ?? null;
  };

/** Watches of an account before `beforeId`, newest first. */
export const listWatches =
  (db: Queryable) =>
  (accountId: string, beforeId: string | null, limit: number): Promise<Watch[]> =>
    db.$queryRaw<Watch[]>`
      SELECT ${WATCH_COLUMNS} FROM watch w
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
    const found = await db.$queryRaw<unknown[]>`
      SELECT 1 FROM watch WHERE id = ${watchId}::uuid AND account_id = ${accountId}::uuid`;
    if (found.length === 0) return null;
    return db.$queryRaw<RecordedChange[]>`
      SELECT id, kind, before, after, check_id AS "checkId", changed_at AS "changedAt" FROM watch_change
      WHERE watch_id = ${watchId}::uuid ${beforeId ? Prisma.sql`AND id < ${beforeId}::uuid` : Prisma.empty}
      ORDER BY id DESC LIMIT ${limit}::int`;
  };

/** Thrown inside the transaction to roll it back, including the binding of the key. */
class Refused extends Error {
  constructor(readonly result: WatchCreation) {
    super(result.kind);
  }
}

/**
 * Creates a watch, due at once, and binds its Idempotency-Key with the answer, or changes nothing. The row of the account is
 * locked first, so that concurrent calls can neither exceed the limit nor create a watch twice.
 */
export const createWatch =
  (db: Database): CreateWatch =>
  async (watch, limit, idempotency) => {
    try {
      return await db.$transaction(async (tx) => {
        const { accountId, createdAt } = watch;
        await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
        const bound = idempotency && (await bindAnswer(tx)(accountId, idempotency, createdAt));
        if (bound) return { kind: 'key_taken' as const, bound };
        const [others] = await tx.$queryRaw<{ n: number; same: boolean }[]>`
          SELECT count(*)::int AS n, COALESCE(bool_or(vat_number = ${watch.vatNumber}), false) AS same
          FROM watch WHERE account_id = ${accountId}::uuid`;
        if (others?.same) throw new Refused({ kind: 'exists' });
        if ((others?.n ?? 0) >= limit) throw new Refused({ kind: 'limit_reached' });
        await tx.$executeRaw`
          INSERT INTO watch (id, account_id, vat_number, country_code, national, input, label, requester, frequency, state,
            created_at, next_check_at)
          VALUES (${watch.id}::uuid, ${accountId}::uuid, ${watch.vatNumber}, ${watch.memberState}, ${watch.national},
            ${watch.input}, ${watch.label}, ${watch.requester}, ${watch.frequency}, 'active',
            ${createdAt}::timestamptz, ${createdAt}::timestamptz)`;
        return { kind: 'created' as const };
      });
    } catch (error) {
      if (error instanceof Refused) return error.result;
      throw error;
    }
  };

const countActive = async (tx: Queryable, accountId: string): Promise<number> => {
  const [active] = await tx.$queryRaw<{ n: number }[]>`
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
      await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
      const [watch] = await tx.$queryRaw<Watch[]>`
        SELECT ${WATCH_COLUMNS} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid FOR UPDATE`;
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
