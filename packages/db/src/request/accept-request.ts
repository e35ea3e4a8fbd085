import type { Acceptance, AcceptanceResult, AcceptRequest } from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import { releaseUnitsOfGone } from '../account/usage.js';
import { coalesce } from '../coalesce.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, isSameId, query } from '../query.js';
import { pendingOfAccount } from './requests.js';

const ACCEPTED = columns({ ...all('int4', 'n', 'pending'), giveUpAt: 'timestamptz?' });

/**
 * Accepts or withdraws the requests of accounts that the transaction has locked, in one statement. The requests are locked in
 * the order of their ids; then those of one account are accepted in the order of the calls, up to its `maxPending`, and the
 * others are withdrawn and their units released.
 */
const acceptLocked = async (tx: Queryable, calls: readonly Acceptance[]): Promise<AcceptanceResult[]> => {
  const list = calls.map(({ id, accountId, now, giveUpAt, maxPending, evenAnswered }, n) => ({
    n,
    id,
    account_id: accountId,
    now,
    give_up_at: giveUpAt,
    max_pending: maxPending,
    even_answered: evenAnswered,
  }));
  // Of two calls that wait for one request, the first decides; the other one reads the row again.
  const first = new Map(list.toReversed().map((call) => [call.id, call]));
  const ids = [...first.keys()];
  const earliest = new Date(Math.min(...calls.map(({ now }) => now.getTime())));
  const rows = await query(tx, ACCEPTED)`
    WITH wanted AS (
      SELECT n, id, account_id, now, give_up_at, max_pending, even_answered
      FROM jsonb_to_recordset(${JSON.stringify([...first.values()])}::jsonb)
        AS w(n int, id uuid, account_id uuid, now timestamptz, give_up_at timestamptz, max_pending int, even_answered bool)
    ), counted AS (
      SELECT a.account_id, ${pendingOfAccount(Prisma.sql`a.account_id`, earliest)} AS pending
      FROM (SELECT DISTINCT account_id FROM wanted) a
    ), live AS (
      SELECT r.id, r.state FROM request r JOIN wanted w ON ${isSameId(Prisma.sql`w.id`, Prisma.sql`r.id`)}
      WHERE ${isOneOf(Prisma.sql`r.id`, ids)} AND ((r.state = 'waiting' AND (r.answer IS NULL OR w.even_answered))
        OR (r.state = 'pending' AND r.accepted_at IS NULL AND r.origin = 'direct'))
      ORDER BY r.id FOR NO KEY UPDATE OF r
    ), ranked AS (
      SELECT w.n, w.id, w.now, w.give_up_at, w.max_pending, l.state,
        c.pending + count(*) FILTER (WHERE l.state = 'waiting') OVER (PARTITION BY w.account_id ORDER BY w.n)::int AS place
      FROM wanted w JOIN live l ON l.id = w.id JOIN counted c ON c.account_id = w.account_id
    ), accepted AS (
      -- A pending request without accepted_at (its first caller was lost) is accepted in any case, since it already counts.
      UPDATE request r SET state = 'pending', accepted_at = k.now, give_up_at = COALESCE(r.give_up_at, k.give_up_at),
        due_at = LEAST(r.due_at, COALESCE(r.give_up_at, k.give_up_at))
      FROM ranked k
      WHERE ${isSameId(Prisma.sql`r.id`, Prisma.sql`k.id`)} AND ${isOneOf(Prisma.sql`r.id`, ids)} AND (k.state = 'pending' OR k.place <= k.max_pending)
      RETURNING k.n, r.give_up_at
    ), gone AS (
      UPDATE request r SET state = 'withdrawn', reason = 'TOO_MANY_PENDING', ended_at = k.now
      FROM ranked k
      WHERE ${isSameId(Prisma.sql`r.id`, Prisma.sql`k.id`)} AND ${isOneOf(Prisma.sql`r.id`, ids)} AND k.state = 'waiting' AND k.place > k.max_pending
      RETURNING k.n, r.id, r.account_id, r.quota_period
    ), ${releaseUnitsOfGone()}, unbound AS (
      DELETE FROM idempotency_key WHERE request_id = ANY(ARRAY(SELECT id FROM gone))
    )
    SELECT n, 0 AS pending, give_up_at AS "giveUpAt" FROM accepted
    UNION ALL
    SELECT g.n, GREATEST(c.pending, k.max_pending), NULL
    FROM gone g JOIN ranked k ON k.n = g.n JOIN counted c ON c.account_id = g.account_id`;
  const byIndex = new Map(rows.map((row) => [row.n, row]));
  return calls.map((_call, n): AcceptanceResult => {
    const row = byIndex.get(n);
    if (row === undefined) return { kind: 'lost_race' };
    return row.giveUpAt === null
      ? { kind: 'too_many_pending', pending: row.pending }
      : { kind: 'accepted', giveUpAt: row.giveUpAt };
  });
};

/** Accepts the requests of the accounts that nobody else has locked; `null` for those of the other accounts. */
const acceptUnlocked = (db: Database) => (calls: Acceptance[]) =>
  db.$transaction(async (tx): Promise<(AcceptanceResult | null)[]> => {
    const accounts = [...new Set(calls.map(({ accountId }) => accountId))];
    const rows = await query(tx, { id: 'uuid' })`
      SELECT id FROM account WHERE id = ANY(${accounts}::uuid[]) FOR NO KEY UPDATE SKIP LOCKED`;
    const locked = new Set(rows.map(({ id }) => id));
    const unlocked = calls.filter(({ accountId }) => locked.has(accountId));
    const results = new Map<Acceptance, AcceptanceResult>();
    if (unlocked.length > 0)
      for (const [n, result] of (await acceptLocked(tx, unlocked)).entries())
        results.set(unlocked[n] as Acceptance, result);
    return calls.map((call) => results.get(call) ?? null);
  });

/** Accepts requests of one account, which it waits for. */
const acceptOfAccount = (db: Database) => (calls: Acceptance[]) =>
  db.$transaction(async (tx): Promise<AcceptanceResult[]> => {
    await lockAccount(tx, calls[0]?.accountId ?? '');
    return acceptLocked(tx, calls);
  });

/** The number of transactions of this process that accept requests at once, so that they leave the pool to other calls. */
const CONCURRENCY = { unlocked: 1, ofAccount: 2 };

/**
 * Turns waiting requests into pending ones, for 202 responses, unless their account already has `maxPending`; then the request
 * is withdrawn and its unit released. The row of the account is locked first, so that concurrent calls cannot exceed the limit.
 * A request whose answer has arrived is not accepted, unless `evenAnswered`, which is for an answer whose recording takes too
 * long. Calls whose windows end together share a transaction; those of an account that someone else has locked wait for it in a
 * transaction of their own.
 */
export const acceptRequest = (db: Database): AcceptRequest => {
  const accept = coalesce(acceptUnlocked(db), { concurrency: CONCURRENCY.unlocked, retry: 'together' });
  const acceptInTurn = coalesce(acceptOfAccount(db), {
    concurrency: CONCURRENCY.ofAccount,
    retry: 'together',
    keyOf: ({ accountId }) => accountId,
  });
  return async (acceptance) => (await accept(acceptance)) ?? (await acceptInTurn(acceptance));
};
