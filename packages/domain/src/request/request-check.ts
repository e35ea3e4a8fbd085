import { periodEnd, periodOf } from '../account/account.js';
import { type MakeCheckDeps, makeCheck } from '../check/check.js';
import type { CheckEntry } from '../check/entry.js';
import type { Trader } from '../check/upstream.js';
import { AppError } from '../errors.js';
import { newUuid } from '../ids.js';
import type { MemberState } from '../member-states.js';
import { readVatNumber } from '../vat-number/index.js';
import { type AwaitEndDeps, awaitEnd, type CallEnd, PENDING_RETRY_AFTER_S } from './await-end.js';
import type {
  AdmitRequest,
  BoundKey,
  KeyToBind,
  NewRequest,
  RecordMalformed,
  RequestSubscription,
  StoredAnswer,
} from './ports.js';
import { type Answer, MAX_PENDING, type UpstreamPolicy } from './request.js';
import { SANDBOX_NUMBERS } from './sandbox-numbers.js';

/** The `syntax` entry every check begins with. `detail` names the missed form or a failed checksum. */
export const syntaxEntry = (outcome: 'valid' | 'malformed', at: Date, detail: string | null): CheckEntry => ({
  source: 'syntax',
  outcome,
  started_at: at.toISOString(),
  duration_ms: 0,
  ...(detail === null ? {} : { detail }),
});

/** The answer to a number that does not fit its country's syntax: known without the upstream. */
export const malformedAnswer = (at: Date): Answer => ({
  verdict: 'malformed',
  name: null,
  address: null,
  consultationNumber: null,
  traderMatch: null,
  answeredAt: at.toISOString(),
});

/** The `syntax` entry that a check begins with; a checksum that does not fit is only noted. */
export const openingEntry = (read: { malformed: string | null; checksumFailed: boolean }, at: Date): CheckEntry => {
  if (read.malformed !== null) return syntaxEntry('malformed', at, read.malformed);
  const note = 'The checksum does not fit; real numbers fail it too, so the upstream decides.';
  return syntaxEntry('valid', at, read.checksumFailed ? note : null);
};

type NumberAsGiven = { vatNumber: string; countryCode: string | undefined; caller: { test: boolean } };

/** The number of a call. `malformed`: the reason as a sentence; null when the number is well formed. */
export type NumberOfCall = {
  memberState: MemberState;
  national: string;
  vatNumber: string;
  malformed: string | null;
  checksumFailed: boolean;
};

/** Reads the number, throwing BAD_REQUEST when its country is unknown or not covered. */
export const readNumber = ({ vatNumber, countryCode, caller }: NumberAsGiven): NumberOfCall => {
  const read = readVatNumber(vatNumber, countryCode);
  if (read.kind === 'unresolvable') {
    throw new AppError('BAD_REQUEST', {
      message: read.reason,
      extra: { fields: [{ path: read.field, message: read.reason }] },
    });
  }
  const sandbox = caller.test && SANDBOX_NUMBERS.includes(read.national);
  const { memberState, national } = read;
  return {
    memberState,
    national,
    vatNumber: read.vatNumber,
    malformed: read.kind === 'malformed' && !sandbox ? read.reason : null,
    checksumFailed: read.kind === 'well_formed' && read.checksum === 'failed' && !sandbox,
  };
};

/** Reads the requester, throwing INVALID_REQUESTER when it is no well-formed number of a covered country. */
export const readRequester = (requester: string | undefined): string | null => {
  if (requester === undefined) return null;
  const read = readVatNumber(requester);
  if (read.kind === 'well_formed') return read.vatNumber;
  throw new AppError('INVALID_REQUESTER', {
    message: `requester_vat_number is not a valid VAT number. ${read.reason}`,
  });
};

/** A direct call whose body has passed its schema. */
export type CheckCall = {
  caller: { accountId: string; test: boolean; quota: number; disabled: boolean };
  vatNumber: string;
  countryCode: string | undefined;
  requester: string | undefined;
  reference: string | undefined;
  trader: Trader | undefined;
  idempotency: { key: string; fingerprint: Uint8Array } | null;
};

/** `replayed`: an earlier call with the same Idempotency-Key had requested the work. */
export type CheckCallResult = (CallEnd & { replayed: boolean }) | { kind: 'replay'; answer: StoredAnswer };

export type RequestCheckDeps = AwaitEndDeps &
  MakeCheckDeps & {
    admit: AdmitRequest;
    recordMalformed: RecordMalformed;
    findKey: (accountId: string, key: string, expiredBefore: Date) => Promise<BoundKey | null>;
    relockKey: (accountId: string, key: string, now: Date, lockedUntil: Date) => Promise<boolean>;
    policyOf: (test: boolean) => UpstreamPolicy;
    openSubscription: (requestId: string) => RequestSubscription;
    /** Enqueues the lookup, or fails quickly. A failure is harmless: the sweep finds the row. */
    enqueueLookup: (request: { id: string; test: boolean; memberState: MemberState }) => Promise<void>;
    /** Lowers the priority of the job of a call that became a background request. */
    demoteLookup: (request: { id: string; test: boolean; memberState: MemberState }) => Promise<void>;
    onEnqueueFailure: (error: unknown) => void;
  };

/** Retention of an Idempotency-Key: 24 hours. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000;

/** How long a crashed first call locks its key; the API promises at most 60 s. */
const KEY_LOCK_MS = 55_000;

/** The error while the first call with an Idempotency-Key still runs. */
export const idempotencyInProgress = (): AppError =>
  new AppError('IDEMPOTENCY_IN_PROGRESS', { extra: { retry_after: 1 } });

/**
 * The direct check of POST /v1/checks. Validates in this order: the number and the requester, the account, the
 * Idempotency-Key, the pending count, the quota. Then waits for the upstream.
 * Throws BAD_REQUEST, INVALID_REQUESTER, ACCOUNT_DISABLED, IDEMPOTENCY_*, TOO_MANY_PENDING, QUOTA_EXCEEDED.
 */
export const requestCheck = (deps: RequestCheckDeps) => {
  const waitForEnd = awaitEnd(deps);
  const make = makeCheck(deps);

  const wait = async (
    request: { id: string; test: boolean; memberState: MemberState },
    subscription: RequestSubscription,
  ): Promise<CallEnd> => {
    const end = await waitForEnd(request.id, deps.policyOf(request.test), subscription);
    // Not awaited: it affects priority only, and a Redis that hangs must not delay the 202.
    if (end.kind === 'accepted') deps.demoteLookup(request).catch(() => undefined);
    return end;
  };

  /** Continues the work that an earlier call with the same key requested. */
  const resume = async (
    call: CheckCall,
    bound: BoundKey,
    fingerprint: Uint8Array,
    key: string,
  ): Promise<CheckCallResult> => {
    if (Buffer.compare(bound.fingerprint, fingerprint) !== 0) throw new AppError('IDEMPOTENCY_MISMATCH');
    if (bound.answer) return { kind: 'replay', answer: bound.answer };
    const now = deps.now();
    const found = bound.requestId === null ? null : await deps.find(bound.requestId);
    if (!found) throw idempotencyInProgress();
    // A request that has ended or was accepted is answered here, also if the first call crashed. While it is waited for,
    // the first call may still run; once its lock has expired, one of the later calls takes over.
    if (found.request.state === 'waiting') {
      if (bound.lockedUntil > now) throw idempotencyInProgress();
      if (!(await deps.relockKey(call.caller.accountId, key, now, new Date(now.getTime() + KEY_LOCK_MS))))
        throw idempotencyInProgress();
    }
    const subscription = deps.openSubscription(found.request.id);
    try {
      return { ...(await wait(found.request, subscription)), replayed: true };
    } finally {
      subscription.close();
    }
  };

  return async (call: CheckCall): Promise<CheckCallResult> => {
    const read = readNumber(call);
    const requester = readRequester(call.requester);
    const { caller } = call;
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');

    const now = deps.now();
    const expiredBefore = new Date(now.getTime() - IDEMPOTENCY_RETENTION_MS);
    const { idempotency } = call;
    const resumeIfBound = async (): Promise<CheckCallResult | null> => {
      if (idempotency === null) return null;
      const bound = await deps.findKey(caller.accountId, idempotency.key, expiredBefore);
      return bound ? resume(call, bound, idempotency.fingerprint, idempotency.key) : null;
    };
    const earlier = await resumeIfBound();
    if (earlier) return earlier;

    const policy = deps.policyOf(caller.test);
    const request: NewRequest = {
      id: newUuid(),
      accountId: caller.accountId,
      test: caller.test,
      input: call.vatNumber,
      memberState: read.memberState,
      national: read.national,
      vatNumber: read.vatNumber,
      requester,
      reference: call.reference ?? null,
      trader: call.trader ?? null,
      entries: [openingEntry(read, now)],
      createdAt: now,
      windowEndsAt: new Date(now.getTime() + policy.windowMs),
    };
    const binding: KeyToBind | null = idempotency && {
      ...idempotency,
      lockedUntil: new Date(now.getTime() + KEY_LOCK_MS),
      expiredBefore,
    };

    const keyTaken = async (): Promise<CheckCallResult> => {
      const taken = await resumeIfBound();
      if (taken) return taken;
      throw idempotencyInProgress();
    };

    if (read.malformed !== null) {
      const { id, bytes, hash, checkedAt } = make(request, malformedAnswer(now)).check;
      const check = { id, bytes, hash };
      const recorded = await deps.recordMalformed({ request, check: { ...check, checkedAt }, idempotency: binding });
      return recorded ? { kind: 'checked', check, replayed: false } : keyTaken();
    }

    const period = periodOf(now);
    const subscription = deps.openSubscription(request.id);
    try {
      const quota = caller.test ? null : { period, limit: caller.quota };
      const admission = await deps.admit({ request, quota, maxPending: MAX_PENDING, idempotency: binding });
      if (admission.kind === 'key_taken') return await keyTaken();
      if (admission.kind === 'too_many_pending') {
        throw new AppError('TOO_MANY_PENDING', {
          extra: { retry_after: PENDING_RETRY_AFTER_S, pending: admission.pending, checks: request.entries },
        });
      }
      if (admission.kind === 'quota_exceeded') {
        throw new AppError('QUOTA_EXCEEDED', { extra: { reset_at: periodEnd(period).toISOString() } });
      }
      const enqueued = await deps.enqueueLookup(request).then(
        () => true,
        (error: unknown) => {
          deps.onEnqueueFailure(error);
          return false;
        },
      );
      // Without Redis nothing happens before the sweep, so there is no reason to wait for the window to end.
      if (!enqueued) return { ...(await acceptNow(request.id, policy, subscription)), replayed: false };
      // The row was just written: there is nothing to read before a notification.
      await subscription.next(request.windowEndsAt);
      return { ...(await wait(request, subscription)), replayed: false };
    } finally {
      subscription.close();
    }
  };

  function acceptNow(requestId: string, policy: UpstreamPolicy, subscription: RequestSubscription): Promise<CallEnd> {
    return awaitEnd({ ...deps, stopping: AbortSignal.abort() })(requestId, policy, subscription);
  }
};

/**
 * The answer to replay for a key that was used before, where work and answer are one transaction.
 * Throws IDEMPOTENCY_MISMATCH, and IDEMPOTENCY_IN_PROGRESS where there is no answer yet.
 */
export const replayOf = (bound: BoundKey, fingerprint: Uint8Array): StoredAnswer => {
  if (Buffer.compare(bound.fingerprint, fingerprint) !== 0) throw new AppError('IDEMPOTENCY_MISMATCH');
  if (bound.answer) return bound.answer;
  throw idempotencyInProgress();
};
