import type { Reader } from '../account/api-key.js';
import { AppError, grouped } from '../errors.js';
import type { FindKey, IdempotencyKey, StoredAnswer, UnexpiredKey } from '../idempotency-key.js';
import { newUuidAt } from '../ids.js';
import { oncePerKey } from '../once-per-key.js';
import {
  type DeliveryState,
  type DueDelivery,
  MAX_COUNTED_DELIVERIES,
  MAX_ON_DEMAND_DELIVERIES,
  MAX_RESENT_DELIVERIES,
  ON_DEMAND_RETRY_AFTER_S,
} from './delivery.js';
import type { EventType } from './event-bodies.js';

/** The states in which a delivery has ended. One that is pending is on its way already. */
export const ENDED_STATES = ['failed', 'successful'] as const satisfies readonly DeliveryState[];

/**
 * Which deliveries are resent: those created from `from` (inclusive) to `to` (exclusive) that have ended, in this state and of
 * this event, if given. With `failed`, an event is left out when a later delivery of it was successful.
 */
export type ResendFilter = {
  from: Date;
  to: Date;
  status?: (typeof ENDED_STATES)[number] | undefined;
  event?: EventType | undefined;
};

/** `matched`: deliveries that match. `queued`: new deliveries, at most one for each event, and none for one that is pending. */
export type Resent = { id: string; matched: number; queued: number };

/** A bulk resend to carry out. `answerOf` makes the answer that is bound to the Idempotency-Key. */
export type NewResend = {
  id: string;
  reader: Reader;
  filter: ResendFilter;
  now: Date;
  idempotency: UnexpiredKey | null;
  answerOf: (resent: Resent) => StoredAnswer;
};

/**
 * Unless `resent`, nothing was written. `busy`: another call of the account was still being carried out. `matched`: above the
 * limit of counting when there are more.
 */
export type ResendResult =
  | { kind: 'resent'; resent: Resent; answer: StoredAnswer; deliveries: DueDelivery[] }
  | { kind: 'too_large'; matched: number }
  | { kind: 'too_many'; pending: number }
  | { kind: 'busy'; pending: number }
  | { kind: 'no_webhook' }
  | { kind: 'key_taken' };

/** A POST /v1/webhook/deliveries/resend whose body has passed its schema. */
export type ResendCall = { reader: Reader; filter: ResendFilter; idempotency: IdempotencyKey | null };

type RequestResendDeps = {
  findKey: FindKey;
  /** Writes all new deliveries in one transaction, with the Idempotency-Key and its answer. */
  resend: (resend: NewResend) => Promise<ResendResult>;
  answerOf: NewResend['answerOf'];
  /** Enqueues what was written. Never throws: the sweep finds what is not enqueued. */
  enqueue: (accountId: string, resent: Resent, deliveries: DueDelivery[]) => void;
  now: () => Date;
};

/** The limits of bulk resends. */
export type ResendLimits = {
  /** Deliveries that one call may match. */
  matched: number;
  /** If there are more, they are counted up to this number. */
  counted: number;
  /** With this many deliveries of test events and resends pending, nothing is resent. */
  pending: number;
  /** How long a call waits for another one of its account, in milliseconds. */
  waitMs: number;
};

export const RESEND_LIMITS: ResendLimits = {
  matched: MAX_RESENT_DELIVERIES,
  counted: MAX_COUNTED_DELIVERIES,
  pending: MAX_ON_DEMAND_DELIVERIES,
  waitMs: 5_000,
};

/** Milliseconds between the first attempts of deliveries that are resent together, so that they never fill a queue at once. */
export const RESEND_INTERVAL_MS = 5;

const refusalOf = (result: Exclude<ResendResult, { kind: 'resent' | 'key_taken' }>): AppError => {
  if (result.kind === 'no_webhook') return new AppError('NO_WEBHOOK');
  if (result.kind === 'too_large') {
    const matched = Math.min(result.matched, RESEND_LIMITS.counted);
    const counted = `${result.matched > matched ? 'More than ' : ''}${grouped(matched)}`;
    const message = `${counted} deliveries match; at most ${grouped(RESEND_LIMITS.matched)} can be resent at a time.`;
    return new AppError('RESEND_TOO_LARGE', { message, extra: { matched } });
  }
  const { kind, pending } = result;
  if (kind === 'busy') {
    const message = 'Another resend of the account is still being queued.';
    return new AppError('TOO_MANY_DELIVERIES', { message, extra: { retry_after: 1, pending } });
  }
  return new AppError('TOO_MANY_DELIVERIES', { extra: { retry_after: ON_DEMAND_RETRY_AFTER_S, pending } });
};

/**
 * Resends the events of many deliveries, once for an Idempotency-Key.
 * Throws IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, NO_WEBHOOK, RESEND_TOO_LARGE, TOO_MANY_DELIVERIES.
 */
export const requestResend =
  ({ findKey, resend, answerOf, enqueue, now }: RequestResendDeps) =>
  async ({ reader, filter, idempotency }: ResendCall): Promise<{ answer: StoredAnswer; replayed: boolean }> => {
    const { accountId } = reader;
    const at = now();
    const result = await oncePerKey(findKey, {
      accountId,
      idempotency,
      now: at,
      work: async (key) => {
        const written = await resend({ id: newUuidAt(at), reader, filter, now: at, idempotency: key, answerOf });
        if (written.kind === 'key_taken') return null;
        if (written.kind !== 'resent') throw refusalOf(written);
        enqueue(accountId, written.resent, written.deliveries);
        return written;
      },
    });
    return { answer: result.answer, replayed: result.kind === 'replay' };
  };
