import type { StampKind } from '@vat/domain';
import { releaseUnits } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks, MAX_CHUNKS } from '../in-chunks.js';
import { endOfRows } from '../partitions/partitions.js';
import { all, query, typed } from '../query.js';
import { DAY_MS, idAt, MAX_ID, madeAfter, NIL, timeOfId } from '../uuid-bounds.js';
import { awaitResends } from '../webhook/resend-deliveries.js';

/**
 * The CTEs that delete requests with their exchanges, checks, time-stamps, events and deliveries. Leaves of anchors are not
 * deleted. They read the CTE `old` of (id, check_id), which must precede them, as arrays, with which
 * Postgres uses the indexes whatever number of rows it expects. `from` and `to`: the range of the ids of the
 * requests; those of their checks and events lie above `from`.
 */
const deleteRequests = ({ from, to } = { from: NIL, to: MAX_ID }): Prisma.Sql => Prisma.sql`
  exchanged AS (
    DELETE FROM exchange
    WHERE request_id = ANY(ARRAY(SELECT id FROM old)) AND request_id >= ${from}::uuid AND request_id < ${to}::uuid),
  stamped AS (DELETE FROM stamp WHERE kind = 'check' AND subject_id = ANY(ARRAY(SELECT check_id FROM old))),
  events AS (
    DELETE FROM event WHERE type IN ('check.completed', 'check.failed') AND subject_id = ANY(ARRAY(SELECT id FROM old))
      AND id >= ${madeAfter(from)}::uuid
    RETURNING id
  ),
  sent AS (DELETE FROM delivery WHERE event_id = ANY(ARRAY(SELECT id FROM events))),
  checked AS (
    DELETE FROM "check"
    WHERE id = ANY(ARRAY(SELECT check_id FROM old)) AND id >= ${madeAfter(from)}::uuid AND id < ${to}::uuid),
  requested AS (
    DELETE FROM request WHERE id = ANY(ARRAY(SELECT id FROM old)) AND id >= ${from}::uuid AND id < ${to}::uuid)`;

/** Rows that one statement deletes. */
export const CHUNK = 500;

/** Retention at least this long deletes whole months, see docs/decisions/0022; a shorter one deletes row by row. */
export const WHOLE_MONTHS_FROM_MS = 62 * DAY_MS;

/** `unitsBefore`: usage entries from then on are still counted by the audit, and expire later with their month. */
type RetentionOptions = { wholeMonths: boolean; unitsBefore: Date };

/** The number of deleted rows. */
type DeletedEvidence = { requests: number; events: number; changes: number };

/**
 * Deletes what was recorded before a point in time: ended requests with their checks, exchanges and time-stamps, events,
 * usage entries, changes of watches. Anchors and leaves are not deleted: the chain remains verifiable, and the bytes of a
 * deleted check can still be proved. Rows are found by their id, which begins with their time. They are deleted in chunks,
 * so that each statement is short, and at most `maxChunks` of each kind. With `wholeMonths` only rows outside the partitions of
 * months are deleted, since those are dropped (`maintainPartitions`), and what remains of expired months.
 */
export const deleteOldEvidence =
  (db: Queryable) =>
  async (
    before: Date,
    maxChunks = MAX_CHUNKS,
    { wholeMonths, unitsBefore }: RetentionOptions = { wholeMonths: false, unitsBefore: before },
  ): Promise<DeletedEvidence> => {
    const bound = idAt(before);
    const unitsBound = idAt(unitsBefore < before ? unitsBefore : before);
    const end = wholeMonths ? await endOfRows(db, 'request', bound) : bound;
    const deleted = { requests: 0, events: 0, changes: 0 };
    for (let [after, chunks] = [NIL, 0]; chunks < maxChunks; chunks += 1) {
      const [chunk] = await query(db, { ...all('int4', 'n', 'read'), last: 'uuid?' })`
        WITH read AS MATERIALIZED (
          SELECT id, check_id, accepted_at FROM request
          WHERE id < ${end}::uuid AND id > ${after}::uuid AND state NOT IN ('waiting', 'pending')
            AND (check_id IS NULL AND ended_at < ${before}::timestamptz OR check_id < (SELECT ${bound}::uuid))
          ORDER BY id LIMIT (SELECT ${CHUNK}::int)
        ), told AS MATERIALIZED (
          SELECT id, subject_id FROM event WHERE type IN ('check.completed', 'check.failed')
            AND subject_id = ANY(ARRAY(SELECT id FROM read WHERE accepted_at IS NOT NULL)) AND id >= ${madeAfter(after)}::uuid
        ), old AS MATERIALIZED (
          SELECT id, check_id FROM read WHERE id <> ALL(ARRAY(
            SELECT subject_id FROM told
            WHERE (SELECT d.id FROM delivery d WHERE d.event_id = told.id AND d.state = 'pending' LIMIT 1) IS NOT NULL))
        ), ledger AS (DELETE FROM usage_entry WHERE check_id = ANY(ARRAY(SELECT check_id FROM old))
          AND check_id < ${unitsBound}::uuid
        ), ${deleteRequests({ from: after, to: bound })}
        SELECT (SELECT count(*)::int FROM old) AS n, (SELECT count(*)::int FROM read) AS read,
          (SELECT id FROM read ORDER BY id DESC LIMIT 1) AS last`;
      deleted.requests += chunk?.n ?? 0;
      if (!chunk?.last || chunk.read < CHUNK) break;
      after = chunk.last;
    }
    for (let [after, chunks] = [NIL, 0]; chunks < maxChunks; chunks += 1) {
      const [chunk] = await query(db, { ...all('int4', 'n', 'read'), last: 'uuid?' })`
        WITH read AS MATERIALIZED (
          SELECT id FROM event WHERE id < ${end}::uuid AND id > ${after}::uuid ORDER BY id LIMIT ${CHUNK}::int
        ), old AS MATERIALIZED (
          SELECT id FROM read
          WHERE (SELECT d.id FROM delivery d WHERE d.event_id = read.id AND d.state = 'pending' LIMIT 1) IS NULL
        ), sent AS (DELETE FROM delivery WHERE event_id = ANY(ARRAY(SELECT id FROM old))
        ), gone AS (
          DELETE FROM event WHERE id = ANY(ARRAY(SELECT id FROM old)) AND id < ${end}::uuid AND id > ${after}::uuid)
        SELECT (SELECT count(*)::int FROM old) AS n, (SELECT count(*)::int FROM read) AS read,
          (SELECT id FROM read ORDER BY id DESC LIMIT 1) AS last`;
      deleted.events += chunk?.n ?? 0;
      if (!chunk?.last || chunk.read < CHUNK) break;
      after = chunk.last;
    }
    deleted.changes = await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM watch_change WHERE id = ANY(ARRAY(
          SELECT id FROM watch_change WHERE id < ${bound}::uuid ORDER BY id LIMIT ${CHUNK}::int))`,
      maxChunks,
    );
    return deleted;
  };

/** The pending evidence. Dates are those of the oldest; null when nothing is pending. */
export type EvidenceAge = {
  unanchoredSince: Date | null;
  stamps: Record<StampKind, { pending: number; since: Date | null }>;
};

/** Reads since when checks have been waiting for an anchor, and time-stamps for their token. */
export const evidenceAge = (db: Queryable) => async (): Promise<EvidenceAge> => {
  const [oldest] = await query(db, { check_id: 'uuid' })`
      SELECT check_id FROM anchor_leaf WHERE anchor_seq IS NULL ORDER BY check_id LIMIT 1`;
  const rows = await query(db, { kind: typed<StampKind>('text'), pending: 'int4', since: 'timestamptz' })`
      SELECT kind, count(*)::int AS pending, min(requested_at) AS since FROM stamp WHERE token IS NULL GROUP BY kind`;
  const of = (kind: StampKind) => {
    const row = rows.find((candidate) => candidate.kind === kind);
    return { pending: row?.pending ?? 0, since: row?.since ?? null };
  };
  return {
    unanchoredSince: oldest ? timeOfId(oldest.check_id) : null,
    stamps: { check: of('check'), anchor: of('anchor') },
  };
};

/** `missing`: there is no such account. `enabled`: it is not disabled, or was disabled after `disabledBefore`. */
type Erasure =
  | { kind: 'missing' }
  | { kind: 'enabled'; disabledAt: Date | null }
  | { kind: 'erased'; requests: number; events: number; batches: number; watches: number };

/** Queries of one chunk of the account's requests. Rows are locked, so that an answer being recorded is in the next chunk with its check. */
const chunksOf = (accountId: string) => [
  Prisma.sql`
    SELECT r.id, r.check_id, r.state, r.quota_period FROM request r WHERE r.id = ANY(ARRAY(
      SELECT c.request_id FROM "check" c WHERE c.account_id = (SELECT ${accountId}::uuid)
      ORDER BY c.id DESC LIMIT (SELECT ${CHUNK}::int)))
    FOR UPDATE`,
  Prisma.sql`
    SELECT id, check_id, state, quota_period FROM request
    WHERE account_id = (SELECT ${accountId}::uuid) AND check_id IS NULL
    ORDER BY id LIMIT (SELECT ${CHUNK}::int) FOR UPDATE`,
];

const deleteChunk = async (db: Queryable, accountId: string, chunk: Prisma.Sql): Promise<number> => {
  const [row] = await query(db, { n: 'int4' })`
    WITH old AS MATERIALIZED (${chunk}), released AS (
      UPDATE usage u SET ${releaseUnits(Prisma.sql`held.n`)}
      FROM (SELECT quota_period, count(*)::int AS n FROM old
        WHERE state IN ('waiting', 'pending') AND quota_period IS NOT NULL GROUP BY quota_period) AS held
      WHERE u.account_id = ${accountId}::uuid AND u.period = held.quota_period
    ), ${deleteRequests()}
    SELECT count(*)::int AS n FROM old`;
  return row?.n ?? 0;
};

/** Repeats `step` until it deletes nothing; returns the sum. */
const drain = async (step: () => Promise<number>): Promise<number> => {
  let all = 0;
  for (let n = await step(); n > 0; n = await step()) all += n;
  return all;
};

/**
 * Deletes the data of an account and of the traders it checked: users, invitations, keys, endpoint, checks, exchanges, requests,
 * batches, coverages, watches, events, deliveries. Its row stays, without the name; so do its usage (for billing) and the leaves of
 * its checks, so that anchors remain verifiable: a leaf is a hash of salted bytes, from which nothing can be derived. Idempotent.
 */
export const eraseAccount =
  (db: Database) =>
  async (accountId: string, disabledBefore: Date, now: Date): Promise<Erasure> => {
    const account = await db.account.findUnique({ where: { id: accountId } });
    if (!account) return { kind: 'missing' };
    const { disabledAt } = account;
    if (disabledAt === null || disabledAt > disabledBefore) return { kind: 'enabled', disabledAt };
    // It may have been enabled since it was read. Once it is marked it cannot be.
    const marked = await db.$executeRaw`
      UPDATE account SET name = 'erased', erased_at = COALESCE(erased_at, ${now}::timestamptz)
      WHERE id = ${accountId}::uuid AND disabled_at <= ${disabledBefore}::timestamptz`;
    if (marked === 0) return { kind: 'enabled', disabledAt: null };
    // Users, keys and the endpoint are deleted first, so that nobody uses the account during the many statements that follow.
    // The account is locked before: somebody who accepts an invitation meanwhile is deleted, too.
    await db.$transaction([
      db.account.update({ where: { id: accountId }, data: { name: 'erased' } }),
      db.invitation.deleteMany({ where: { accountId } }),
      // Before the users, as in the statement that records a check of a watch: its trigger locks the users who want a mail.
      db.checkDay.deleteMany({ where: { accountId } }),
      db.user.deleteMany({ where: { accountId } }),
      db.apiKey.deleteMany({ where: { accountId } }),
      db.webhook.deleteMany({ where: { accountId } }),
      db.idempotencyKey.deleteMany({ where: { accountId } }),
      db.exportLease.deleteMany({ where: { accountId } }),
      db.downloadLease.deleteMany({ where: { accountId } }),
      db.batchUpload.deleteMany({ where: { accountId } }),
      db.accountSearch.deleteMany({ where: { accountId } }),
    ]);
    // Its deliveries would be written after those of the account are deleted, and their events.
    await awaitResends(db, accountId);
    const watches = await drain(
      () => db.$executeRaw`
        DELETE FROM watch WHERE id = ANY(ARRAY(SELECT id FROM watch WHERE account_id = ${accountId}::uuid LIMIT ${CHUNK}::int))`,
    );
    // A batch has up to ten thousand lines, which are deleted with it.
    const batches = await drain(
      () => db.$executeRaw`
        DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE account_id = ${accountId}::uuid LIMIT 1)`,
    );
    await drain(
      () => db.$executeRaw`
        DELETE FROM coverage WHERE id IN (SELECT id FROM coverage WHERE account_id = ${accountId}::uuid LIMIT 1)`,
    );
    let requests = 0;
    for (const chunk of chunksOf(accountId)) requests += await drain(() => deleteChunk(db, accountId, chunk));
    // Checks whose request has been dropped with its month.
    await drain(
      () => db.$executeRaw`
        DELETE FROM "check" WHERE id = ANY(ARRAY(
          SELECT c.id FROM "check" c WHERE c.account_id = ${accountId}::uuid
            AND NOT EXISTS (SELECT FROM request r WHERE r.id = c.request_id) LIMIT ${CHUNK}::int))`,
    );
    // A second pass, for what a lookup in flight recorded during the first one.
    for (const chunk of chunksOf(accountId)) requests += await drain(() => deleteChunk(db, accountId, chunk));
    await drain(
      () => db.$executeRaw`
        DELETE FROM delivery WHERE id = ANY(ARRAY(
          SELECT id FROM delivery WHERE account_id = ${accountId}::uuid LIMIT ${CHUNK}::int))`,
    );
    const events = await drain(
      () => db.$executeRaw`
        DELETE FROM event WHERE id = ANY(ARRAY(SELECT id FROM event WHERE account_id = ${accountId}::uuid LIMIT ${CHUNK}::int))`,
    );
    await db.newestEvent.deleteMany({ where: { accountId } });
    await db.$executeRaw`DELETE FROM stamp WHERE account_id = ${accountId}::uuid`;
    return { kind: 'erased', requests, events, batches, watches };
  };
