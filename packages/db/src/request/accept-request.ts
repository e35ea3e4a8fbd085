import type { AcceptRequest } from '@vat/domain';
import { releaseUnits } from '../account/release-units-sql.js';
import type { Database } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

/**
 * Turns a waiting request into a pending one, which is what a 202 promises, unless the account already has `maxPending`;
 * then it is withdrawn and its reservation released. The account's row is locked first, so that however many calls race
 * there is never one too many; an answer that arrived meanwhile wins. With `evenAnswered` a known answer whose recording
 * takes too long does not.
 */
export const acceptRequest =
  (db: Database): AcceptRequest =>
  ({ id, accountId, now, giveUpAt, maxPending, evenAnswered }) =>
    db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
      const [count] = await tx.$queryRaw<{ n: number }[]>`
        SELECT count(*)::int AS n FROM request WHERE account_id = ${accountId}::uuid AND state = 'pending' AND origin = 'direct' AND id <> ${id}::uuid`;
      const pending = count?.n ?? 0;
      if (pending >= maxPending) {
        const withdrawn = await tx.$executeRaw`
          WITH gone AS (
            UPDATE request SET state = 'withdrawn', reason = 'TOO_MANY_PENDING', ended_at = ${now}::timestamptz
            WHERE id = ${id}::uuid AND state = 'waiting' AND (answer IS NULL OR ${evenAnswered})
            RETURNING id, account_id, quota_period
          ), released AS (
            UPDATE usage u SET ${releaseUnits(Prisma.sql`1`)} FROM gone
            WHERE u.account_id = gone.account_id AND u.period = gone.quota_period
          ), unbound AS (
            DELETE FROM idempotency_key k USING gone WHERE k.request_id = gone.id
          )
          SELECT 1 FROM gone`;
        if (withdrawn > 0) return { kind: 'too_many_pending' as const, pending };
      }
      // A request whose caller was lost (pending without accepted_at) is taken over whatever the count: it is in it already.
      const [accepted] = await tx.$queryRaw<{ give_up_at: Date }[]>`
        UPDATE request SET state = 'pending', accepted_at = ${now}::timestamptz,
          give_up_at = COALESCE(give_up_at, ${giveUpAt}::timestamptz), due_at = LEAST(due_at, ${giveUpAt}::timestamptz)
        WHERE id = ${id}::uuid AND ((state = 'pending' AND accepted_at IS NULL AND origin = 'direct')
          OR (state = 'waiting' AND ${pending < maxPending} AND (answer IS NULL OR ${evenAnswered})))
        RETURNING give_up_at`;
      return accepted ? { kind: 'accepted' as const, giveUpAt: accepted.give_up_at } : { kind: 'lost_race' as const };
    });
