import { AppError } from '../errors.js';
import type { BoundKey, KeyToBind, StoredAnswer } from '../request/ports.js';
import { IDEMPOTENCY_RETENTION_MS, replayOf } from '../request/request-check.js';
import type {
  DueStamp,
  FindCheckStamp,
  FindPendingStamp,
  PendingStamp,
  RecordStamp,
  Stamp,
  StampCursor,
  StampFacts,
  StampOutcome,
} from './evidence.js';

/** Port: has data stamped by its hash and verifies the answer; rejects where there is no time-stamp. */
export type StampData = (data: Uint8Array, signal?: AbortSignal) => Promise<{ token: Uint8Array } & StampFacts>;

export type MakeStampDeps = {
  findPending: FindPendingStamp;
  stamp: StampData;
  record: RecordStamp;
  /**
   * What a rejection of `stamp` says: that the authority failed, that nobody was asked (`circuit_open`), or `null` for
   * whatever has nothing to do with the authority, which is thrown on.
   */
  reasonOf: (error: unknown) => { error: string; asked: boolean } | null;
  /** From a failed try to the next, in milliseconds; the last one repeats. */
  retryDelaysMs: readonly number[];
  now: () => Date;
};

/** What became of a try. `gone`: there was nothing to stamp (any more). */
export type MadeStamp =
  | { kind: 'stamped'; stamp: PendingStamp }
  | { kind: 'failed'; stamp: PendingStamp; error: string; nextAttemptAt: Date }
  | { kind: 'gone' };

/** While nobody is asked, there is no use in looking more often than this. */
const RESTING_MS = 60_000;

/** Tries once to have a stamp made and records what came of it; twice at once is harmless, one of the two is kept. */
export const makeStamp =
  ({ findPending, stamp: stampData, record, reasonOf, retryDelaysMs, now }: MakeStampDeps) =>
  async (subjectId: string, signal?: AbortSignal): Promise<MadeStamp> => {
    const stamp = await findPending(subjectId);
    if (!stamp) return { kind: 'gone' };
    let outcome: StampOutcome;
    try {
      const { token, ...facts } = await stampData(stamp.data, signal);
      outcome = { kind: 'stamped', token, facts };
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || signal?.aborted) throw error;
      const scheduled = retryDelaysMs[Math.min(stamp.attempts, retryDelaysMs.length - 1)] ?? RESTING_MS;
      const delay = reason.asked ? scheduled : Math.max(scheduled, RESTING_MS);
      const nextAttemptAt = new Date(now().getTime() + delay);
      outcome = { kind: 'failed', error: reason.error, counts: reason.asked, nextAttemptAt };
    }
    if (!(await record(stamp, outcome))) return { kind: 'gone' };
    if (outcome.kind === 'stamped') return { kind: 'stamped', stamp };
    return { kind: 'failed', stamp, error: outcome.error, nextAttemptAt: outcome.nextAttemptAt };
  };

/** A POST /v1/checks/{id}/timestamp. */
export type StampCall = {
  caller: { accountId: string; disabled: boolean };
  checkId: string;
  idempotency: { key: string; fingerprint: Uint8Array } | null;
};

/** What lookingUp for a stamp came to. `key_taken`: the Idempotency-Key was used before; nothing was changed. */
export type RequestedStamp =
  | { kind: 'asked'; stamp: Stamp; created: boolean }
  | { kind: 'no_check' }
  | { kind: 'key_taken' };

/** Port: writes in one transaction that a check is to be stamped, and binds the key. */
export type RequestStampForCheck = (
  ask: { checkId: string; accountId: string; now: Date },
  key: KeyToBind | null,
) => Promise<RequestedStamp>;

export type StampCheckDeps = {
  findKey: (accountId: string, key: string, expiredBefore: Date) => Promise<BoundKey | null>;
  relockKey: (accountId: string, key: string, now: Date, lockedUntil: Date) => Promise<boolean>;
  ask: RequestStampForCheck;
  make: (checkId: string, signal: AbortSignal) => Promise<MadeStamp>;
  find: FindCheckStamp;
  /** Never rejects: what is not enqueued is found by the sweep. */
  enqueue: (stamp: DueStamp) => Promise<void>;
  /** Aborts once a caller has waited long enough. */
  patience: () => AbortSignal;
  now: () => Date;
};

/** `stamp.facts` is null while it is pending. `created`: this call asked for it. */
export type StampCallResult =
  | { kind: 'replay'; answer: StoredAnswer }
  | { kind: 'asked'; stamp: Stamp; created: boolean };

/** Longer than a caller is made to wait; a call that died keeps its key locked no longer. */
const KEY_LOCK_MS = 15_000;

/**
 * Has a check stamped: the row first, then one try while the caller waits; the worker goes on where that fails. A check has
 * one stamp, so lookingUp again gives the same one.
 * Throws ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, NOT_FOUND.
 */
export const stampCheck = ({ findKey, relockKey, ask, make, find, enqueue, patience, now }: StampCheckDeps) => {
  const tryOnce = async (stamp: Stamp): Promise<Stamp> => {
    const { subjectId, accountId } = stamp;
    const made = await make(subjectId, patience()).catch(() => null);
    if (made === null) await enqueue({ subjectId, dueAt: now() });
    if (made?.kind === 'failed') await enqueue({ subjectId, dueAt: made.nextAttemptAt });
    return (accountId && (await find(subjectId, accountId))) || stamp;
  };

  return async ({ caller, checkId, idempotency }: StampCall): Promise<StampCallResult> => {
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');
    const { accountId } = caller;
    const at = now();
    const expiredBefore = new Date(at.getTime() - IDEMPOTENCY_RETENTION_MS);
    const lockedUntil = new Date(at.getTime() + KEY_LOCK_MS);
    const boundTo = async (key: string) => findKey(accountId, key, expiredBefore);

    const bound = idempotency && (await boundTo(idempotency.key));
    // A first call that died leaves its key without an answer; its work is done by whoever comes next.
    const takenOver =
      idempotency !== null &&
      bound !== null &&
      bound.answer === null &&
      Buffer.compare(bound.fingerprint, idempotency.fingerprint) === 0 &&
      (await relockKey(accountId, idempotency.key, at, lockedUntil));
    if (idempotency && bound && !takenOver) return { kind: 'replay', answer: replayOf(bound, idempotency.fingerprint) };

    const key = idempotency && !takenOver ? { ...idempotency, lockedUntil, expiredBefore } : null;
    const asked = await ask({ checkId, accountId, now: at }, key);
    if (asked.kind === 'no_check') throw new AppError('NOT_FOUND');
    if (asked.kind === 'key_taken') {
      const other = idempotency && (await boundTo(idempotency.key));
      if (idempotency && other) return { kind: 'replay', answer: replayOf(other, idempotency.fingerprint) };
      throw new AppError('IDEMPOTENCY_IN_PROGRESS', { extra: { retry_after: 1 } });
    }
    const { stamp, created } = asked;
    return { kind: 'asked', stamp: created && !stamp.facts ? await tryOnce(stamp) : stamp, created };
  };
};

export type SweepStampsDeps = {
  /** Pending stamps due before a moment, oldest first, a slice at a time. */
  due: (before: Date, after: StampCursor | null, limit: number) => Promise<DueStamp[]>;
  /** Gives each its job; a job that is still there is left alone. */
  enqueue: (stamps: DueStamp[]) => Promise<void>;
  now: () => Date;
};

/** A job that is this late is taken to be lost; adding one that is not changes nothing. */
const GRACE_MS = 5_000;
/** Later than any try is due. */
const EVER = new Date('9000-01-01T00:00:00.000Z');
const SLICE = 500;

/**
 * The safety net under time-stamps: those that are overdue get their job (again). With `everything`, also the ones that are
 * due only later: after a loss of Redis.
 */
export const sweepStamps =
  ({ due, enqueue, now }: SweepStampsDeps) =>
  async ({ everything }: { everything: boolean }): Promise<{ stamps: number }> => {
    const before = everything ? EVER : new Date(now().getTime() - GRACE_MS);
    let stamps = 0;
    for (let after: StampCursor | null = null; ; ) {
      const slice: DueStamp[] = await due(before, after, SLICE);
      if (slice.length > 0) await enqueue(slice);
      stamps += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return { stamps };
      after = last;
    }
  };
