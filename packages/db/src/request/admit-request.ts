import type {
  Admission,
  AdmissionResult,
  AdmitRequest,
  KeyToBind,
  MalformedCheck,
  NewRequest,
  RecordMalformed,
} from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { query } from '../query.js';
import { transact } from '../transaction.js';
import { timeOfId } from '../uuid-bounds.js';
import { countCheck } from './checks.js';
import { pendingOfAccount } from './requests.js';

/** What every new request stores; its state and what follows from it come after. */
const NEW_REQUEST = Prisma.sql`id, account_id, test, input, country_code, national, vat_number, requester, reference, trader,
  entries, created_at, window_ends_at, due_at`;

const valuesOf = (request: NewRequest): Prisma.Sql => Prisma.sql`
  ${request.id}::uuid, ${request.accountId}::uuid, ${request.test}, ${request.input}, ${request.memberState},
  ${request.national}, ${request.vatNumber}, ${request.requester}, ${request.reference},
  ${request.trader === null ? null : JSON.stringify(request.trader)}::jsonb, ${JSON.stringify(request.entries)}::jsonb,
  ${request.createdAt}::timestamptz, ${request.windowEndsAt}::timestamptz, ${request.createdAt}::timestamptz`;

/** Binds the Idempotency-Key of a call to its new request; false when it is bound already. */
const bindKey = (tx: Queryable, key: KeyToBind, { accountId, id: requestId, createdAt: now }: NewRequest) =>
  bindIdempotencyKey(tx)({ ...key, accountId, requestId, now });

/** Checks the number of pending requests, reserves a unit and inserts the request, in one statement. */
const reserveAndInsert = async (db: Queryable, admission: Admission): Promise<AdmissionResult> => {
  const { request, quota, maxPending } = admission;
  const [row] = await query(db, { pending: 'int4', reserved: 'int4', admitted: 'int4' })`
    WITH pend AS (
      SELECT ${pendingOfAccount(Prisma.sql`${request.accountId}::uuid`, timeOfId(request.id))} AS n
    ), reserved AS (
      INSERT INTO usage (account_id, period, used, reserved)
      SELECT ${request.accountId}::uuid, ${quota?.period ?? null}::text, 0, 1 FROM pend
      WHERE pend.n < ${maxPending}::int AND ${quota?.limit ?? 0}::int > 0
      ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
      WHERE usage.used + usage.reserved < ${quota?.limit ?? 0}::int
      RETURNING 1
    ), admitted AS (
      INSERT INTO request (${NEW_REQUEST}, state, quota_period)
      SELECT ${valuesOf(request)}, 'waiting', ${quota?.period ?? null}::text
      FROM pend
      WHERE pend.n < ${maxPending}::int AND (${quota === null} OR EXISTS (SELECT 1 FROM reserved))
      RETURNING 1
    )
    SELECT (SELECT n FROM pend) AS pending, (SELECT count(*)::int FROM reserved) AS reserved,
      (SELECT count(*)::int FROM admitted) AS admitted`;
  if (row?.admitted === 1) return { kind: 'admitted' };
  if (row && row.pending >= maxPending) return { kind: 'too_many_pending', pending: row.pending };
  return { kind: 'quota_exceeded' };
};

/**
 * Admits a request: binds its Idempotency-Key, checks for TOO_MANY_PENDING, reserves a unit and inserts the row, or changes
 * nothing. Without a key this is one statement, since it runs for every direct check.
 */
export const admitRequest =
  (db: Database): AdmitRequest =>
  async (admission) => {
    const { idempotency, request } = admission;
    if (idempotency === null) return reserveAndInsert(db, admission);
    return transact<AdmissionResult>(db, async (tx, refuse) => {
      if (!(await bindKey(tx, idempotency, request))) return refuse({ kind: 'key_taken' });
      const result = await reserveAndInsert(tx, admission);
      return result.kind === 'admitted' ? result : refuse(result);
    });
  };

/** Inserts a request that has ended with its check, the check, and its leaf for the next anchor. */
const insertRecorded = async (db: Queryable, { request, check }: MalformedCheck): Promise<void> => {
  await db.$executeRaw`
    WITH done AS (
      INSERT INTO request (${NEW_REQUEST}, state, ended_at, check_id)
      VALUES (${valuesOf(request)}, 'completed', ${request.createdAt}::timestamptz, ${check.id}::uuid)
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
      await insertRecorded(db, malformed);
      return true;
    }
    return db.$transaction(async (tx) => {
      const bound = await bindKey(tx, idempotency, request);
      if (bound) await insertRecorded(tx, malformed);
      return bound;
    });
  };
