import type { CheckRequest, StoredCheck } from '@vat/domain';
import { Prisma } from '../generated/client.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from './request-row.js';

/** A row of {@link REQUESTS_WITH_CHECKS}. */
export type RequestWithCheckRow = RequestRow & { check_body: Uint8Array | null; check_hash: Uint8Array | null };

/** A query of requests `r` with their checks, to be followed by WHERE. */
export const REQUESTS_WITH_CHECKS = Prisma.sql`
  SELECT ${REQUEST_COLUMNS}, c.body AS check_body, c.hash AS check_hash
  FROM request r JOIN account a ON a.id = r.account_id LEFT JOIN "check" c ON c.id = r.check_id`;

/** A request, and its check once there is one. */
export type RequestWithCheck = { request: CheckRequest; check: StoredCheck | null };

/** The domain's request and check from a row. */
export const requestWithCheck = (row: RequestWithCheckRow): RequestWithCheck => ({
  request: requestOfRow(row),
  check:
    row.check_id && row.check_body && row.check_hash
      ? { id: row.check_id, bytes: row.check_body, hash: row.check_hash }
      : null,
});
