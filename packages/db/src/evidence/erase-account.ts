import { releaseUnits } from '../account/release-units-sql.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { deleteRequests } from './delete-requests-sql.js';

const SLICE = 500;

/** `missing`: there is none. `enabled`: it is not disabled, or not since `disabledBefore`. */
export type Erasure =
  | { kind: 'missing' }
  | { kind: 'enabled'; disabledAt: Date | null }
  | { kind: 'erased'; requests: number; events: number; batches: number; watches: number };

/** A slice of the account's requests, locked, so that an answer that is being recorded is in the next slice with its check. */
const slices = (accountId: string) => [
  Prisma.sql`
    SELECT r.id, r.check_id, r.state, r.quota_period FROM request r WHERE r.id IN (
      SELECT c.request_id FROM "check" c WHERE c.account_id = ${accountId}::uuid ORDER BY c.id DESC LIMIT ${SLICE}::int)
    FOR UPDATE`,
  Prisma.sql`
    SELECT id, check_id, state, quota_period FROM request
    WHERE account_id = ${accountId}::uuid AND check_id IS NULL ORDER BY id LIMIT ${SLICE}::int FOR UPDATE`,
];

const deleteSlice = async (db: Queryable, accountId: string, slice: Prisma.Sql): Promise<number> => {
  const [row] = await db.$queryRaw<{ n: number }[]>`
    WITH old AS MATERIALIZED (${slice}), released AS (
      UPDATE usage u SET ${releaseUnits(Prisma.sql`held.n`)}
      FROM (SELECT quota_period, count(*)::int AS n FROM old
        WHERE state IN ('waiting', 'pending') AND quota_period IS NOT NULL GROUP BY quota_period) AS held
      WHERE u.account_id = ${accountId}::uuid AND u.period = held.quota_period
    ), ${deleteRequests()}
    SELECT count(*)::int AS n FROM old`;
  return row?.n ?? 0;
};

/** Until nothing is left. */
const drain = async (step: () => Promise<number>): Promise<number> => {
  let all = 0;
  for (let n = await step(); n > 0; n = await step()) all += n;
  return all;
};

/**
 * Deletes what is known of an account and of whom it asked about: users, keys, endpoint, checks, exchanges, requests, batches,
 * watches, events, deliveries. Its row stays without its name, and so do its usage (billing) and the leaves of its checks, so
 * that anchors verify as before; a leaf is the hash of salted bytes, from which nothing can be guessed. Can be run again.
 */
export const eraseAccount =
  (db: Database) =>
  async (accountId: string, disabledBefore: Date, now: Date): Promise<Erasure> => {
    const account = await db.account.findUnique({ where: { id: accountId } });
    if (!account) return { kind: 'missing' };
    const { disabledAt } = account;
    if (disabledAt === null || disabledAt > disabledBefore) return { kind: 'enabled', disabledAt };
    // Those who could come in go first, with what they could be told at; what follows is many statements.
    await db.$transaction([
      db.user.deleteMany({ where: { accountId } }),
      db.apiKey.deleteMany({ where: { accountId } }),
      db.webhook.deleteMany({ where: { accountId } }),
      db.idempotencyKey.deleteMany({ where: { accountId } }),
      db.exportLease.deleteMany({ where: { accountId } }),
      db.downloadLease.deleteMany({ where: { accountId } }),
      db.batchUpload.deleteMany({ where: { accountId } }),
      db.checkDay.deleteMany({ where: { accountId } }),
      db.account.update({ where: { id: accountId }, data: { name: 'erased', erasedAt: account.erasedAt ?? now } }),
    ]);
    const watches = await drain(
      () => db.$executeRaw`
        DELETE FROM watch WHERE id IN (SELECT id FROM watch WHERE account_id = ${accountId}::uuid LIMIT ${SLICE}::int)`,
    );
    // A batch takes up to ten thousand lines with it.
    const batches = await drain(
      () => db.$executeRaw`
        DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE account_id = ${accountId}::uuid LIMIT 1)`,
    );
    let requests = 0;
    for (const slice of slices(accountId)) requests += await drain(() => deleteSlice(db, accountId, slice));
    // Again, for what an ask in flight recorded between the two.
    for (const slice of slices(accountId)) requests += await drain(() => deleteSlice(db, accountId, slice));
    await drain(
      () => db.$executeRaw`
        DELETE FROM delivery WHERE id IN (
          SELECT id FROM delivery WHERE account_id = ${accountId}::uuid LIMIT ${SLICE}::int)`,
    );
    const events = await drain(
      () => db.$executeRaw`
        DELETE FROM event WHERE id IN (SELECT id FROM event WHERE account_id = ${accountId}::uuid LIMIT ${SLICE}::int)`,
    );
    await db.$executeRaw`DELETE FROM stamp WHERE account_id = ${accountId}::uuid`;
    return { kind: 'erased', requests, events, batches, watches };
  };
