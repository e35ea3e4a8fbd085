import type { MalformedCheck, RecordMalformed } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { countCheck } from './checks.js';

const insert = async (db: Queryable, { request, check }: MalformedCheck): Promise<void> => {
  await db.$executeRaw`
    WITH done AS (
      INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, requester, reference,
        trader, entries, created_at, window_ends_at, due_at, ended_at, check_id)
      VALUES (${request.id}::uuid, ${request.accountId}::uuid, ${request.test}, 'completed', ${request.input},
        ${request.memberState}, ${request.national}, ${request.vatNumber}, ${request.requester}, ${request.reference},
        ${request.trader === null ? null : JSON.stringify(request.trader)}::jsonb,
        ${JSON.stringify(request.entries)}::jsonb, ${request.createdAt}::timestamptz,
        ${request.windowEndsAt}::timestamptz, ${request.createdAt}::timestamptz, ${request.createdAt}::timestamptz,
        ${check.id}::uuid)
      RETURNING account_id, test
    ), leaf AS (
      INSERT INTO anchor_leaf (check_id, hash) SELECT ${check.id}::uuid, ${check.hash} WHERE NOT ${request.test}
    ), ${countCheck('malformed', check.checkedAt, Prisma.sql`SELECT account_id, test FROM done`)}
    INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, reference, checked_at, body, hash)
    VALUES (${check.id}::uuid, ${request.accountId}::uuid, ${request.id}::uuid, ${request.test}, ${request.vatNumber},
      false, ${request.reference}, ${check.checkedAt}::timestamptz, ${check.bytes}, ${check.hash})`;
};

/**
 * Records a malformed number at once: request, check and leaf for the next anchor, but no unit. False when its
 * Idempotency-Key is already bound.
 */
export const recordMalformed =
  (db: Database): RecordMalformed =>
  async (malformed) => {
    const { idempotency, request } = malformed;
    if (idempotency === null) {
      await insert(db, malformed);
      return true;
    }
    return db.$transaction(async (tx) => {
      const bound = await bindIdempotencyKey(tx)({
        ...idempotency,
        accountId: request.accountId,
        requestId: request.id,
        now: request.createdAt,
      });
      if (bound) await insert(tx, malformed);
      return bound;
    });
  };
