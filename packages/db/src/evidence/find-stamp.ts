import type { FindCheckStamp, FindPendingStamp, FindToken, StampKind } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { STAMP_COLUMNS, type StampRow, stampOfRow } from './stamp-row.js';

/** The stamp of an account's check. */
export const findCheckStamp =
  (db: Queryable): FindCheckStamp =>
  async (checkId, accountId) => {
    const [row] = await db.$queryRaw<StampRow[]>`
      SELECT ${STAMP_COLUMNS} FROM stamp s WHERE s.subject_id = ${checkId}::uuid AND s.account_id = ${accountId}::uuid`;
    return row ? stampOfRow(row) : null;
  };

/** The token of an account's check or, without an account, of an anchor. */
export const findToken =
  (db: Queryable): FindToken =>
  async (subjectId, accountId) => {
    const [row] = await db.$queryRaw<{ token: Uint8Array }[]>`
      SELECT token FROM stamp WHERE subject_id = ${subjectId}::uuid AND account_id IS NOT DISTINCT FROM ${accountId}::uuid
        AND token IS NOT NULL`;
    return row?.token ?? null;
  };

type PendingRow = {
  kind: StampKind;
  account_id: string | null;
  requested_at: Date;
  attempts: number;
  data: Uint8Array;
};

/** What is still to be stamped. A stamp whose check is gone is none. */
export const findPendingStamp =
  (db: Queryable): FindPendingStamp =>
  async (subjectId) => {
    const [row] = await db.$queryRaw<PendingRow[]>`
      SELECT s.kind, s.account_id, s.requested_at, s.attempts, COALESCE(c.body, a.body) AS data
      FROM stamp s LEFT JOIN "check" c ON s.kind = 'check' AND c.id = s.subject_id
        LEFT JOIN anchor a ON s.kind = 'anchor' AND a.id = s.subject_id
      WHERE s.subject_id = ${subjectId}::uuid AND s.token IS NULL AND COALESCE(c.body, a.body) IS NOT NULL`;
    if (!row) return null;
    const { kind, account_id: accountId, requested_at: requestedAt, attempts, data } = row;
    return { subjectId, kind, accountId, requestedAt, attempts, data };
  };
