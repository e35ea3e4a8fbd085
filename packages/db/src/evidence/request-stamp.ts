import type { RequestStamp } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { findCheckStamp } from './find-stamp.js';

/** Writes that an account's live check is to be stamped, once; null when there is no such check. */
export const requestStamp =
  (db: Queryable): RequestStamp =>
  async (checkId, accountId, now) => {
    const created = await db.$executeRaw`
      INSERT INTO stamp (subject_id, kind, account_id, digest, requested_at, next_attempt_at)
      SELECT id, 'check', account_id, hash, ${now}::timestamptz, ${now}::timestamptz FROM "check"
      WHERE id = ${checkId}::uuid AND account_id = ${accountId}::uuid AND NOT test
      ON CONFLICT (subject_id) DO NOTHING`;
    const stamp = await findCheckStamp(db)(checkId, accountId);
    return stamp && { ...stamp, created: created > 0 };
  };
