import type { ObservedChange } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** A change with the ids and the event that tell it. */
export type ChangeToRecord = ObservedChange & { id: string; eventId: string; deliveryId: string; body: string };

/** What the check of a run does to its watch. */
export type WatchRecord = {
  watchId: string;
  checkId: string;
  checkedAt: Date;
  seen: { valid: boolean; name: string | null; address: string | null };
  changes: ChangeToRecord[];
  now: Date;
};

const record = ({ id, kind, before, after, eventId, deliveryId, body }: ChangeToRecord) => ({
  id,
  kind,
  before,
  after,
  event_id: eventId,
  delivery_id: deliveryId,
  body,
});

/**
 * The CTEs that end a run together with its request (the CTE `done`, with `id`): the watch remembers the answer, and each
 * change is written with its event and, where the account has an endpoint, its delivery (`watch_sent`, with `id`). Nothing
 * is written when the watch is gone, or this is not its run.
 */
export const recordWatch = ({ watchId, checkId, checkedAt, seen, changes, now }: WatchRecord): Prisma.Sql => Prisma.sql`
  watched AS (
    UPDATE watch w SET request_id = NULL, last_check_id = ${checkId}::uuid, last_checked_at = ${checkedAt}::timestamptz,
      last_valid = ${seen.valid},
      last_valid_check_id = CASE WHEN ${seen.valid} THEN ${checkId}::uuid ELSE w.last_valid_check_id END,
      last_name = CASE WHEN ${seen.valid} THEN ${seen.name}::text ELSE w.last_name END,
      last_address = CASE WHEN ${seen.valid} THEN ${seen.address}::text ELSE w.last_address END
    FROM done WHERE w.id = ${watchId}::uuid AND w.request_id = done.id
    RETURNING w.id, w.account_id
  ), differs AS (
    SELECT watched.id AS watch_id, watched.account_id, c.id, c.kind, c.before, c.after, c.event_id, c.delivery_id, c.body
    FROM watched, jsonb_to_recordset(${JSON.stringify(changes.map(record))}::jsonb) AS c(id uuid, kind text, before jsonb,
      after jsonb, event_id uuid, delivery_id uuid, body text)
  ), changed AS (
    INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
    SELECT id, watch_id, kind, before, after, ${checkId}::uuid, ${checkedAt}::timestamptz FROM differs
  ), watch_told AS (
    INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    SELECT event_id, account_id, 'watch.changed', id, body, false, ${now}::timestamptz FROM differs
  ), watch_sent AS (
    INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
    SELECT d.delivery_id, d.account_id, d.event_id, h.generation, 'pending', ${now}::timestamptz, ${now}::timestamptz
    FROM differs d JOIN webhook h ON h.account_id = d.account_id
    RETURNING id
  )`;

/** The CTE that ends a run whose request (the CTE `gone`, with `id`) ended without an answer: nothing is known, nothing changes. */
export const releaseWatch = (): Prisma.Sql => Prisma.sql`
  unwatched AS (
    UPDATE watch w SET request_id = NULL FROM gone WHERE w.request_id = gone.id
  )`;
