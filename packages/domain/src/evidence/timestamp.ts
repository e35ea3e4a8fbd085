import { AppError } from '../errors.js';
import type { FindKey, IdempotencyKey, KeyToBind, RelockKey } from '../idempotency-key.js';
import { oncePerKey, type Replay } from '../once-per-key.js';
import { overdueBefore } from '../overdue.js';
import {
  type DueStamp,
  type FindCheckStamp,
  type FindPendingStamp,
  MAX_BEHIND_MS,
  type PendingStamp,
  type RecordStamp,
  type Stamp,
  type StampCursor,
  type StampFacts,
  type StampOutcome,
} from './evidence.js';

/** Port: requests a time-stamp of the data's hash and verifies the answer; rejects when there is none. */
export type StampData = (data: Uint8Array, signal?: AbortSignal) => Promise<{ token: Uint8Array } & StampFacts>;

export type MakeStampDeps = {
  findPending: FindPendingStamp;
  stamp: StampData;
  record: RecordStamp;
  /**
   * The reason of a rejection of `stamp`. `called` is false when no authority was called (`circuit_open`). `null` for errors
   * unrelated to the authority, which are rethrown.
   */
  reasonOf: (error: unknown) => { error: string; called: boolean } | null;
  /** From a failed attempt to the next, in milliseconds; the last one repeats. */
  retryDelaysMs: readonly number[];
  now: () => Date;
};

/** The result of an attempt. `gone`: nothing was left to stamp. */
export type MadeStamp =
  | { kind: 'stamped'; stamp: PendingStamp }
  | { kind: 'failed'; stamp: PendingStamp; error: string; nextAttemptAt: Date }
  | { kind: 'gone' };

/** Minimum delay while the circuit is open and no authority is called. */
const CIRCUIT_DELAY_MS = 60_000;

/** Makes one attempt at a stamp and records its outcome. Of two concurrent attempts, one is recorded. */
export const makeStamp =
  ({ findPending, stamp: stampData, record, reasonOf, retryDelaysMs, now }: MakeStampDeps) =>
  async (subjectId: string, signal?: AbortSignal): Promise<MadeStamp> => {
    const stamp = await findPending(subjectId);
    if (!stamp) return { kind: 'gone' };
    let outcome: StampOutcome;
    try {
      const { token, ...facts } = await stampData(stamp.data, signal);
      const earlyMs = stamp.madeAt.getTime() - facts.genTime.getTime();
      // Recorded while the clock was ahead. Verifiers refuse a token that is older than what it stamps, and it would stay.
      outcome =
        earlyMs > MAX_BEHIND_MS
          ? {
              ...{ kind: 'failed', counts: true, nextAttemptAt: stamp.madeAt },
              error: `stamped_early: the authority's time is ${earlyMs} ms before what it stamps was made`,
            }
          : { kind: 'stamped', token, facts };
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || signal?.aborted) throw error;
      const scheduled = retryDelaysMs[Math.min(stamp.attempts, retryDelaysMs.length - 1)] ?? CIRCUIT_DELAY_MS;
      const delay = reason.called ? scheduled : Math.max(scheduled, CIRCUIT_DELAY_MS);
      const nextAttemptAt = new Date(now().getTime() + delay);
      outcome = { kind: 'failed', error: reason.error, counts: reason.called, nextAttemptAt };
    }
    if (!(await record(stamp, outcome))) return { kind: 'gone' };
    if (outcome.kind === 'stamped') return { kind: 'stamped', stamp };
    return { kind: 'failed', stamp, error: outcome.error, nextAttemptAt: outcome.nextAttemptAt };
  };

/** A POST /v1/checks/{id}/timestamp. */
export type StampCall = {
  caller: { accountId: string; disabled: boolean };
  checkId: string;
  idempotency: IdempotencyKey | null;
};

/** The result of requesting a stamp. `key_taken`: the Idempotency-Key was used before; nothing was changed. */
export type RequestedStamp =
  | { kind: 'requested'; stamp: Stamp; created: boolean }
  | { kind: 'no_check' }
  | { kind: 'key_taken' };

/** Port: requests the stamp of a check and binds the key, in one transaction. */
export type RequestStampForCheck = (
  call: { checkId: string; accountId: string; now: Date },
  key: KeyToBind | null,
) => Promise<RequestedStamp>;

type StampCheckDeps = {
  findKey: FindKey;
  relockKey: RelockKey;
  requestStamp: RequestStampForCheck;
  make: (checkId: string, signal: AbortSignal) => Promise<MadeStamp>;
  find: FindCheckStamp;
  /** Never rejects: the sweep finds stamps that were not enqueued. */
  enqueue: (stamp: DueStamp) => Promise<void>;
  /** A signal that aborts when the caller has waited long enough. */
  patience: () => AbortSignal;
  now: () => Date;
};

/** `stamp.facts` is null while it is pending. `created`: this call requested it. */
export type StampCallResult = Replay | { kind: 'requested'; stamp: Stamp; created: boolean };

/** How long a crashed call locks its key: longer than a caller waits. */
const KEY_LOCK_MS = 15_000;

/**
 * Requests the time-stamp of a check: writes the row, then makes one attempt while the caller waits; the worker continues
 * after a failure. A check has one stamp, so a second request returns the same one.
 * Throws ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, NOT_FOUND.
 */
export const stampCheck = ({
  findKey,
  relockKey,
  requestStamp,
  make,
  find,
  enqueue,
  patience,
  now,
}: StampCheckDeps) => {
  const attemptOnce = async (stamp: Stamp): Promise<Stamp> => {
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
    const lockedUntil = new Date(at.getTime() + KEY_LOCK_MS);
    const work = async (key: KeyToBind | null): Promise<StampCallResult | null> => {
      const requested = await requestStamp({ checkId, accountId, now: at }, key);
      if (requested.kind === 'no_check') throw new AppError('NOT_FOUND');
      if (requested.kind === 'key_taken') return null;
      const { stamp, created } = requested;
      return { kind: 'requested', stamp: created && !stamp.facts ? await attemptOnce(stamp) : stamp, created };
    };
    return oncePerKey<StampCallResult>(findKey, {
      accountId,
      idempotency,
      now: at,
      work: (key) => work(key && { ...key, lockedUntil }),
      // A first call that crashed leaves its key without an answer; the next call takes over its work.
      resume: async (_bound, { key }) => ((await relockKey(accountId, key, at, lockedUntil)) ? work(null) : null),
    });
  };
};

type SweepStampsDeps = {
  /** Pending stamps due before a moment, oldest first, in chunks of `limit`. */
  due: (before: Date, after: StampCursor | null, limit: number) => Promise<DueStamp[]>;
  /** Enqueues the job of each stamp that has none; returns how many. `everything`: not all of them are overdue. */
  enqueueLost: (stamps: DueStamp[], scope: { everything: boolean }) => Promise<number>;
  now: () => Date;
};

const CHUNK = 500;

/**
 * Enqueues overdue time-stamps whose job is missing. With `everything`, after a loss of Redis, stamps that are due later are
 * enqueued as well.
 */
export const sweepStamps =
  ({ due, enqueueLost, now }: SweepStampsDeps) =>
  async ({ everything }: { everything: boolean }): Promise<{ stamps: number }> => {
    const before = overdueBefore(everything, now());
    let stamps = 0;
    for (let after: StampCursor | null = null; ; ) {
      const chunk: DueStamp[] = await due(before, after, CHUNK);
      stamps += await enqueueLost(chunk, { everything });
      const last = chunk.at(-1);
      if (!last || chunk.length < CHUNK) return { stamps };
      after = last;
    }
  };
