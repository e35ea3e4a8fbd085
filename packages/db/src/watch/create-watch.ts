import type { CreateWatch, WatchCreation } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { bindAnswer } from '../idempotency/bind-answer.js';

/** Thrown inside the transaction to take the key's binding back with everything else. */
class Refused extends Error {
  constructor(readonly result: WatchCreation) {
    super(result.kind);
  }
}

/**
 * Makes a watch, due at once, and binds its Idempotency-Key with the answer, or changes nothing. The account's row is
 * locked first, so that however many calls race there is never one watch too many, and none twice.
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
