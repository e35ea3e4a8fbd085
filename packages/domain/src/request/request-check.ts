import { periodEnd, periodOf } from '../account/account.js';
import { type MakeCheckDeps, makeCheck } from '../check/check.js';
import type { CheckEntry } from '../check/entry.js';
import type { Answer } from '../check/upstream.js';
import { AppError } from '../errors.js';
import type { BoundKey, FindKey, IdempotencyKey, KeyToBind, RelockKey, UnexpiredKey } from '../idempotency-key.js';
import { newUuidAt } from '../ids.js';
import type { MemberState } from '../member-states.js';
import { oncePerKey, type Replay } from '../once-per-key.js';
import type { Trader } from '../trader.js';
import { readVatNumber } from '../vat-number/index.js';
import { type AwaitEndDeps, awaitEnd, type CallEnd, tooManyPending } from './await-end.js';
import type { AdmitRequest, NewRequest, RecordMalformed, RequestSubscription } from './ports.js';
import { MAX_PENDING, type UpstreamPolicy } from './request.js';
import { SANDBOX_NUMBERS } from './sandbox-facts.js';

/** The `syntax` entry every check begins with. `detail` names the missed form or a failed checksum. */
const syntaxEntry = (outcome: 'valid' | 'malformed', at: Date, detail: string | null): CheckEntry => ({
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
type NumberOfCall = {
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
  const read = readVatNumber(requester, undefined, 'nowhere');
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
  idempotency: IdempotencyKey | null;
  /** The span of the call, which its lookup continues; absent while traces are off. */
  traceparent?: string | undefined;
};

/** `replayed`: an earlier call with the same Idempotency-Key had requested the work. */
export type CheckCallResult = (CallEnd & { replayed: boolean }) | Replay;

/** A request whose lookup is to be enqueued. */
type LookupToEnqueue = { id: string; accountId: string; test: boolean; memberState: MemberState };

export type RequestCheckDeps = AwaitEndDeps &
  MakeCheckDeps & {
    admit: AdmitRequest;
    recordMalformed: RecordMalformed;
    findKey: FindKey;
    relockKey: RelockKey;
    policyOf: (test: boolean) => UpstreamPolicy;
    openSubscription: (requestId: string) => RequestSubscription;
    /**
     * Begins with what does not need the row. `enqueue` is called when the row is there; it fails quickly, which is harmless:
     * the sweep finds the row. `drop` is called when there will be no row.
     */
    prepareLookup: (
      request: LookupToEnqueue,
      traceparent: string | undefined,
    ) => { enqueue: () => Promise<void>; drop: () => void };
    /** Lowers the priority of the job of a call that became a background request. */
    demoteLookup: (request: LookupToEnqueue) => Promise<void>;
    onEnqueueFailure: (error: unknown) => void;
  };

/** How long a crashed first call locks its key; the API promises at most 60 s. */
const KEY_LOCK_MS = 55_000;
const lockEnd = (now: Date) => new Date(now.getTime() + KEY_LOCK_MS);

/**
 * The direct check of POST /v1/checks. Validates in this order: the number and the requester, the account, the
 * Idempotency-Key, the pending count, the quota. Then waits for the upstream.
 * Throws BAD_REQUEST, INVALID_REQUESTER, ACCOUNT_DISABLED, IDEMPOTENCY_*, TOO_MANY_PENDING, QUOTA_EXCEEDED.
 */
export const requestCheck = (deps: RequestCheckDeps) => {
  const waitForEnd = awaitEnd(deps);
  const make = makeCheck(deps);

  const wait = async (request: LookupToEnqueue, subscription: RequestSubscription): Promise<CallEnd> => {
    const end = await waitForEnd(request.id, deps.policyOf(request.test), subscription);
    // Not awaited: it affects priority only, and a Redis that hangs must not delay the 202.
    if (end.kind === 'accepted') deps.demoteLookup(request).catch(() => undefined);
    return end;
  };

  /** Continues the work that an earlier call with the same key requested; `null` while that call may still run. */
  const resume = async (
    { requestId, lockedUntil }: BoundKey,
    accountId: string,
    key: string,
  ): Promise<CheckCallResult | null> => {
    const found = requestId === null ? null : await deps.find(requestId);
    if (!found) return null;
    const { state, acceptedAt } = found.request;
    // It ended without an answer after the key was read, which released the key: the next repeat requests the work again.
    if (acceptedAt === null && (state === 'withdrawn' || state === 'abandoned')) return null;
    // A request that has ended or was accepted is answered here, also if the first call crashed. While it is waited for,
    // the first call may still run; once its lock has expired, one of the later calls takes over.
    if (state === 'waiting') {
      const now = deps.now();
      if (lockedUntil > now || !(await deps.relockKey(accountId, key, now, lockEnd(now)))) return null;
    }
    const subscription = deps.openSubscription(found.request.id);
    try {
      return { ...(await wait(found.request, subscription)), replayed: true };
    } finally {
      subscription.close();
    }
  };

  const recordAtOnce = async (request: NewRequest, idempotency: KeyToBind | null): Promise<CheckCallResult | null> => {
    const { id, bytes, hash, checkedAt } = make(request, malformedAnswer(request.createdAt)).check;
    const check = { id, bytes, hash };
    const recorded = await deps.recordMalformed({ request, check: { ...check, checkedAt }, idempotency });
    return recorded ? { kind: 'checked', check, replayed: false } : null;
  };

  const acceptNow = (requestId: string, policy: UpstreamPolicy, subscription: RequestSubscription): Promise<CallEnd> =>
    awaitEnd({ ...deps, stopping: AbortSignal.abort() })(requestId, policy, subscription);

  const admitAndWait = async (
    request: NewRequest,
    { caller, traceparent }: CheckCall,
    idempotency: KeyToBind | null,
  ): Promise<CheckCallResult | null> => {
    const period = periodOf(request.createdAt);
    const subscription = deps.openSubscription(request.id);
    try {
      const quota = request.test ? null : { period, limit: caller.quota };
      const lookup = deps.prepareLookup(request, traceparent);
      const admission = await deps.admit({ request, quota, maxPending: MAX_PENDING, idempotency }).catch((error) => {
        lookup.drop();
        throw error;
      });
      if (admission.kind !== 'admitted') lookup.drop();
      if (admission.kind === 'key_taken') return null;
      if (admission.kind === 'too_many_pending') throw tooManyPending(admission.pending, request.entries);
      if (admission.kind === 'quota_exceeded') {
        throw new AppError('QUOTA_EXCEEDED', { extra: { reset_at: periodEnd(period).toISOString() } });
      }
      const enqueued = await lookup.enqueue().then(
        () => true,
        (error: unknown) => {
          deps.onEnqueueFailure(error);
          return false;
        },
      );
      // Without Redis nothing happens before the sweep, so there is no reason to wait for the window to end.
      if (!enqueued) {
        return { ...(await acceptNow(request.id, deps.policyOf(request.test), subscription)), replayed: false };
      }
      // The row was just written: there is nothing to read before a notification.
      const check = await subscription.next(request.windowEndsAt);
      const end = check ? ({ kind: 'checked', check } as const) : await wait(request, subscription);
      return { ...end, replayed: false };
    } finally {
      subscription.close();
    }
  };

  return async (call: CheckCall): Promise<CheckCallResult> => {
    const read = readNumber(call);
    const requester = readRequester(call.requester);
    const { caller, idempotency } = call;
    const { accountId, test } = caller;
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');
    const now = deps.now();
    const work = (key: UnexpiredKey | null): Promise<CheckCallResult | null> => {
      const request: NewRequest = {
        id: newUuidAt(now),
        accountId,
        test,
        input: call.vatNumber,
        memberState: read.memberState,
        national: read.national,
        vatNumber: read.vatNumber,
        requester,
        reference: call.reference ?? null,
        trader: call.trader ?? null,
        entries: [openingEntry(read, now)],
        createdAt: now,
        windowEndsAt: new Date(now.getTime() + deps.policyOf(test).windowMs),
      };
      const binding = key && { ...key, lockedUntil: lockEnd(now) };
      return read.malformed === null ? admitAndWait(request, call, binding) : recordAtOnce(request, binding);
    };
    return oncePerKey<CheckCallResult>(deps.findKey, {
      accountId,
      idempotency,
      now,
      work,
      resume: (bound, { key }) => resume(bound, accountId, key),
    });
  };
};
