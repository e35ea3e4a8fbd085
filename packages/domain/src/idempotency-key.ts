/** The Idempotency-Key of a call, in its stored form, with a hash of the call's content. */
export type IdempotencyKey = { key: string; fingerprint: Uint8Array };

/** An HTTP answer, stored to be replayed byte for byte. */
export type StoredAnswer = { status: number; headers: Record<string, string>; body: Uint8Array };

/** A key that was used before. `answer`: what to replay, once the first call was answered. */
export type BoundKey = {
  fingerprint: Uint8Array;
  requestId: string | null;
  lockedUntil: Date;
  answer: StoredAnswer | null;
};

/** A key whose binding from before `expiredBefore` does not count and is replaced. */
export type UnexpiredKey = IdempotencyKey & { expiredBefore: Date };

/** A key to be bound in the transaction that creates its work, which locks it until the first call should be answered. */
export type KeyToBind = UnexpiredKey & { lockedUntil: Date };

/** A key with its answer, for work that is done in one transaction: such a key is never bound without its answer. */
export type AnswerToBind = UnexpiredKey & { answer: StoredAnswer };

/** Port: the binding of a key; `null` when the key is free or was bound before `expiredBefore`. */
export type FindKey = (accountId: string, key: string, expiredBefore: Date) => Promise<BoundKey | null>;

/** Port: locks a key again whose first call died; true for exactly one of several concurrent callers. */
export type RelockKey = (accountId: string, key: string, now: Date, lockedUntil: Date) => Promise<boolean>;

export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000;
