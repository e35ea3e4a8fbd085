import type { FindRequest, RequestState } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import {
  REQUESTS_WITH_CHECKS,
  type RequestWithCheck,
  type RequestWithCheckRow,
  requestWithCheck,
} from './request-row.js';

/** Reads one request, one that `reader` may read when given; `null` when there is none. */
export const findRequest =
  (db: Queryable): FindRequest =>
  async (id, reader) => {
    const accountId = reader?.accountId ?? null;
    const [row] = await db.$queryRaw<RequestWithCheckRow[]>`
      ${REQUESTS_WITH_CHECKS}
      WHERE r.id = ${id}::uuid AND (${accountId}::uuid IS NULL OR r.account_id = ${accountId}::uuid)
        AND (r.test OR NOT ${reader?.testOnly ?? false}::boolean)`;
    return row ? requestWithCheck(row) : null;
  };

/** How a request that was answered 202 can stand. */
export type AcceptedState = Exclude<RequestState, 'waiting' | 'withdrawn'>;
const ACCEPTED_STATES: readonly AcceptedState[] = ['pending', 'completed', 'abandoned'];

/**
 * Requests of an account that were answered 202, before `beforeId`, newest first, each with its check once there is one.
 * `state`: those alone. One index scan a state, none longer than the page, however many requests there are.
 */
export const listRequests =
  (db: Queryable) =>
  async (
    accountId: string,
    state: AcceptedState | undefined,
    beforeId: string | null,
    limit: number,
  ): Promise<RequestWithCheck[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND id < ${beforeId}::uuid`;
    const ofState = (one: AcceptedState) => Prisma.sql`
      (SELECT id FROM request WHERE account_id = ${accountId}::uuid AND state = ${one} AND accepted_at IS NOT NULL ${before}
       ORDER BY id DESC LIMIT ${limit}::int)`;
    const ids = Prisma.join((state === undefined ? ACCEPTED_STATES : [state]).map(ofState), ' UNION ALL ');
    const rows = await db.$queryRaw<RequestWithCheckRow[]>`
      ${REQUESTS_WITH_CHECKS}
      WHERE r.id IN (SELECT id FROM (${ids}) AS found ORDER BY id DESC LIMIT ${limit}::int)
      ORDER BY r.id DESC`;
    return rows.map(requestWithCheck);
  };
