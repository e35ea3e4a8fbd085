import type { FindRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUESTS_WITH_CHECKS, type RequestWithCheckRow, requestWithCheck } from './request-with-check.js';

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
