import type { DeliveryDetail, LoggedAttempt, Reader } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.js';

type AttemptRow = {
  number: number;
  at: Date;
  url: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  address: string | null;
  timings: LoggedAttempt['timings'];
  answer: Uint8Array;
  answer_truncated: boolean;
};

/** One delivery with its attempts, oldest first; `null` when there is none that `reader` may read. */
export const findDelivery =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<DeliveryDetail | null> => {
    const [row] = await db.$queryRaw<(DeliveryRow & { body: string })[]>`
      SELECT ${DELIVERY_COLUMNS}, e.body FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE d.id = ${id}::uuid AND d.account_id = ${accountId}::uuid AND (d.test OR NOT ${testOnly}::boolean)`;
    if (!row) return null;
    // An attempt that is recorded between the two statements is left for the next reading.
    const attempts = await db.$queryRaw<AttemptRow[]>`
      SELECT number, at, url, status_code, duration_ms, error, address, timings, answer, answer_truncated
      FROM delivery_attempt WHERE delivery_id = ${id}::uuid AND number <= ${row.attempts}::int ORDER BY number`;
    const log = attempts.map((attempt) => ({
      number: attempt.number,
      at: attempt.at,
      url: attempt.url,
      statusCode: attempt.status_code,
      durationMs: attempt.duration_ms,
      error: attempt.error,
      address: attempt.address,
      timings: attempt.timings,
      answer: attempt.answer,
      answerTruncated: attempt.answer_truncated,
    }));
    return { ...deliveryOfRow(row), body: row.body, log };
  };
