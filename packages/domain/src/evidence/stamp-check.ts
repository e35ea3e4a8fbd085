import { AppError } from '../errors.js';
import type { BoundKey, KeyToBind, StoredAnswer } from '../request/ports.js';
import { replayOf } from '../request/replay-of.js';
import { IDEMPOTENCY_KEPT_MS } from '../request/request-check.js';
import type { MadeStamp } from './make-stamp.js';
import type { DueStamp, FindCheckStamp, Stamp } from './ports.js';

/** A POST /v1/checks/{id}/timestamp. */
export type StampCall = {
  caller: { accountId: string; disabled: boolean };
  checkId: string;
  idempotency: { key: string; fingerprint: Uint8Array } | null;
};

/** What asking for a stamp came to. `key_taken`: the Idempotency-Key was used before; nothing was changed. */
export type AskedStamp =
  | { kind: 'asked'; stamp: Stamp; created: boolean }
  | { kind: 'no_check' }
  | { kind: 'key_taken' };

/** Port: writes in one transaction that a check is to be stamped, and binds the key. */
export type AskForStamp = (
  ask: { checkId: string; accountId: string; now: Date },
  key: KeyToBind | null,
) => Promise<AskedStamp>;

export type StampCheckDeps = {
  findKey: (accountId: string, key: string, expiredBefore: Date) => Promise<BoundKey | null>;
  relockKey: (accountId: string, key: string, now: Date, lockedUntil: Date) => Promise<boolean>;
  ask: AskForStamp;
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
 * one stamp, so asking again gives the same one.
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
    const expiredBefore = new Date(at.getTime() - IDEMPOTENCY_KEPT_MS);
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
