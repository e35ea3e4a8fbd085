import type { Reader } from '../account/api-key.js';
import type { StoredCheck } from '../check/check.js';
import type { AbandonReason, NewEvent } from '../delivery/event-bodies.js';
import type { KeyToBind } from '../idempotency-key.js';
import type { MemberState } from '../member-states.js';
import type { CheckRequest } from './request.js';

/** A request to be admitted. Ids are UUIDs. */
export type NewRequest = Pick<
  CheckRequest,
  | ('id' | 'accountId' | 'test' | 'input' | 'memberState' | 'national' | 'vatNumber' | 'requester')
  | ('reference' | 'trader' | 'entries' | 'createdAt' | 'windowEndsAt')
>;

export type Admission = {
  request: NewRequest;
  /** The unit to reserve; null for test keys. */
  quota: { period: string; limit: number } | null;
  maxPending: number;
  idempotency: KeyToBind | null;
};

export type AdmissionResult =
  | { kind: 'admitted' }
  | { kind: 'too_many_pending'; pending: number }
  | { kind: 'quota_exceeded' }
  | { kind: 'key_taken' };

/** Port: binds the key, enforces TOO_MANY_PENDING, reserves a unit and writes the row, or changes nothing. */
export type AdmitRequest = (admission: Admission) => Promise<AdmissionResult>;

export type MalformedCheck = {
  request: NewRequest;
  check: StoredCheck & { checkedAt: Date };
  idempotency: KeyToBind | null;
};

/** Port: records a malformed number at once; false when its Idempotency-Key is bound already. */
export type RecordMalformed = (malformed: MalformedCheck) => Promise<boolean>;

export type Acceptance = {
  id: string;
  accountId: string;
  now: Date;
  giveUpAt: Date;
  maxPending: number;
  evenAnswered: boolean;
};

/**
 * `giveUpAt`: as stored in the row, where a request that lost its caller already has one. `lost_race`: the request no longer
 * waits for an answer and must be read again.
 */
export type AcceptanceResult =
  | { kind: 'accepted'; giveUpAt: Date }
  | { kind: 'too_many_pending'; pending: number }
  | { kind: 'lost_race' };

/** Port: the one conditional update that turns a waiting request into a pending one. */
export type AcceptRequest = (acceptance: Acceptance) => Promise<AcceptanceResult>;

/** A request with its check, when it has one. */
export type RequestWithCheck = { request: CheckRequest; check: StoredCheck | null };

/** Port: reads a request; with `reader`, only one that the reader may read. `null` when there is none. */
export type FindRequest = (id: string, reader?: Reader) => Promise<RequestWithCheck | null>;

/**
 * Port: `next` resolves when a notification about the request arrives, with the recorded check if the notification has it. With
 * null the request is to be read again: also after a slow poll, at `until` and when the process stops.
 */
export type RequestSubscription = { next: (until: Date) => Promise<StoredCheck | null>; close: () => void };

type Ending = {
  requestId: string;
  reason: AbandonReason;
  event: NewEvent;
  deliveryId: string;
  now: Date;
};

/**
 * Ends some requests that were created before a moment and have lost their caller; those that continue do so up to the maximum
 * of their account. Returns how many ended or continue, 0 when none is left.
 */
export type ReleaseOrphans = (options: {
  createdBefore: Date;
  now: Date;
  /** When a request of its kind of key is given up that has not been looked up yet. */
  giveUpAt: { live: Date; test: Date };
  maxPending: number;
}) => Promise<number>;

/**
 * `abandoned` (with its event, if it was answered 202), `withdrawn` (a caller waits for the answer). `batchId`: of the lines
 * that failed with it.
 */
export type EndedAs = { state: 'abandoned' | 'withdrawn'; deliveryId: string | null; batchId: string | null };

/** Port: ends a request without a check; `null` when it had already ended or its answer had arrived. */
export type EndRequest = (ending: Ending) => Promise<EndedAs | null>;

/** A request of a batch left the window of its member state. `batchId`: the batch whose lines ended with it, if any did. */
export type BatchStep = { memberState: MemberState; batchId: string | null };

/** A live request whose next step should have happened by now. */
export type OverdueRequest = Pick<CheckRequest, 'id' | 'accountId' | 'test' | 'origin' | 'memberState' | 'dueAt'> & {
  pending: boolean;
  answered: boolean;
};

/** A position in the list of overdue requests. */
export type OverdueCursor = Pick<OverdueRequest, 'dueAt' | 'id'>;

/** Overdue requests whose jobs are in the same queue. */
export type OverdueGroup = Pick<OverdueRequest, 'test' | 'memberState' | 'answered'> & { ids: string[] };

/** A page of overdue requests; `next` is null for the last one. */
export type OverduePage = { groups: OverdueGroup[]; next: OverdueCursor | null };

/** A pending request that must end without a check, with the data of its event. */
export type EndedRequest = Pick<CheckRequest, 'id' | 'accountId' | 'test' | 'lastError'> & { reason: AbandonReason };
