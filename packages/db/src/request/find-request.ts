import type { FindRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUESTS_WITH_CHECKS, type RequestWithCheckRow, requestWithCheck } from './request-with-check.js';

/** Reads one request, of `accountId` alone when given; `null` when there is none. */
export const findRequest =
  (db: Queryable): FindRequest =>
  async (id, accountId) => {
    const [row] = await db.$queryRaw<RequestWithCheckRow[]>`
      ${REQUESTS_WITH_CHECKS}
      WHERE r.id = ${id}::uuid AND (${accountId ?? null}::uuid IS NULL OR r.account_id = ${accountId ?? null}::uuid)`;
    return row ? requestWithCheck(row) : null;
  };
