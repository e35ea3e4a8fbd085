import type { Delivery, DeliveryState } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** A row of `delivery` joined with its event, as raw queries return it. */
export type DeliveryRow = {
  id: string;
  event_id: string;
  event_type: string;
  state: DeliveryState;
  attempts: number;
  created_at: Date;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  last_status_code: number | null;
  last_duration_ms: number | null;
  last_error: string | null;
};

/** The columns of {@link DeliveryRow}, for a query that calls `delivery` d and `event` e. */
export const DELIVERY_COLUMNS = Prisma.sql`d.id, d.event_id, e.type AS event_type, d.state, d.attempts, d.created_at,
  d.next_attempt_at, d.last_attempt_at, d.last_status_code, d.last_duration_ms, d.last_error`;

/** The domain's delivery from its row. */
export const deliveryOfRow = (row: DeliveryRow): Delivery => ({
  id: row.id,
  eventId: row.event_id,
  eventType: row.event_type,
  state: row.state,
  attempts: row.attempts,
  createdAt: row.created_at,
  nextAttemptAt: row.next_attempt_at,
  last:
    row.last_attempt_at === null
      ? null
      : {
          at: row.last_attempt_at,
          statusCode: row.last_status_code,
          durationMs: row.last_duration_ms ?? 0,
          error: row.last_error,
        },
});
