import type { DueStamp, StampCursor } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { NIL } from './nil.js';

/** Pending stamps due before `before`, oldest first, a slice at a time. */
export const dueStamps =
  (db: Queryable) =>
  async (before: Date, after: StampCursor | null, limit: number): Promise<DueStamp[]> => {
    const rows = await db.$queryRaw<{ subject_id: string; next_attempt_at: Date }[]>`
      SELECT subject_id, next_attempt_at FROM stamp
      WHERE token IS NULL AND next_attempt_at < ${before}::timestamptz
        AND (next_attempt_at, subject_id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.subjectId ?? NIL}::uuid)
      ORDER BY next_attempt_at, subject_id LIMIT ${limit}::int`;
    return rows.map((row) => ({ subjectId: row.subject_id, dueAt: row.next_attempt_at }));
  };
