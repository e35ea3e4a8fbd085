import type { Queryable } from '../connect-database.js';

/** What is due: one attempt of one delivery. `number` counts from 1. */
export type AttemptToClaim = { deliveryId: string; number: number; now: Date; leasedUntil: Date };

/** A claimed attempt, with the endpoint of this moment; `endpoint` is null when it was removed. */
export type ClaimedAttempt = {
  eventId: string;
  eventType: string;
  body: string;
  dueAt: Date;
  endpoint: { url: string; secretSealed: Uint8Array } | null;
};

/** `not_yet`: it is due or free again at `at`. `settled`: this attempt was made, or the delivery has ended. */
export type Claim = { kind: 'claimed'; attempt: ClaimedAttempt } | { kind: 'not_yet'; at: Date } | { kind: 'settled' };

type Row = {
  event_id: string;
  type: string;
  body: string;
  next_attempt_at: Date;
  url: string | null;
  secret_sealed: Uint8Array | null;
};

/**
 * Claims an attempt for this process until the lease ends, so that a job that comes twice (the queue was lost, its worker
 * stood still) is sent once. The lease is longer than an attempt can take: it runs out only when its process is dead.
 */
export const claimDelivery =
  (db: Queryable) =>
  async ({ deliveryId, number, now, leasedUntil }: AttemptToClaim): Promise<Claim> => {
    const [row] = await db.$queryRaw<Row[]>`
      WITH claimed AS (
        UPDATE delivery SET leased_until = ${leasedUntil}::timestamptz
        WHERE id = ${deliveryId}::uuid AND state = 'pending' AND attempts = ${number - 1}::int
          AND next_attempt_at <= ${now}::timestamptz
          AND (leased_until IS NULL OR leased_until <= ${now}::timestamptz)
        RETURNING account_id, event_id, generation, next_attempt_at
      )
      SELECT c.event_id, c.next_attempt_at, e.type, e.body, w.url, w.secret_sealed
      FROM claimed c JOIN event e ON e.id = c.event_id
        LEFT JOIN webhook w ON w.account_id = c.account_id AND w.generation = c.generation`;
    if (row) {
      const { url, secret_sealed: secretSealed } = row;
      const endpoint = url === null || secretSealed === null ? null : { url, secretSealed };
      const { event_id: eventId, type: eventType, body, next_attempt_at: dueAt } = row;
      return { kind: 'claimed', attempt: { eventId, eventType, body, dueAt, endpoint } };
    }
    const [waiting] = await db.$queryRaw<{ at: Date }[]>`
      SELECT GREATEST(next_attempt_at, leased_until) AS at FROM delivery
      WHERE id = ${deliveryId}::uuid AND state = 'pending' AND attempts = ${number - 1}::int`;
    return waiting ? { kind: 'not_yet', at: waiting.at } : { kind: 'settled' };
  };

/** Gives back a claim whose attempt was called off: it is no attempt, and due at once for whoever comes next. */
export const releaseDelivery =
  (db: Queryable) =>
  async (deliveryId: string, number: number): Promise<void> => {
    await db.$executeRaw`
      UPDATE delivery SET leased_until = NULL
      WHERE id = ${deliveryId}::uuid AND state = 'pending' AND attempts = ${number - 1}::int`;
  };
