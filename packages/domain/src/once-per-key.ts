import { AppError } from './errors.js';
import {
  type BoundKey,
  type FindKey,
  IDEMPOTENCY_RETENTION_MS,
  type IdempotencyKey,
  type StoredAnswer,
  type UnexpiredKey,
} from './idempotency-key.js';

/** A stored answer that is sent again. */
export type Replay = { kind: 'replay'; answer: StoredAnswer };

type KeyedCall<Result> = {
  accountId: string;
  idempotency: IdempotencyKey | null;
  now: Date;
  /** Does the work and binds the key in its transaction; `null`, and nothing is changed, when the key was bound meanwhile. */
  work: (key: UnexpiredKey | null) => Promise<Result | null>;
  /** Continues work whose first call was not answered; `null` while that call may still run. Never, by default. */
  resume?: (bound: BoundKey, key: IdempotencyKey) => Promise<Result | null>;
};

/**
 * Does the work of a call once for its Idempotency-Key: a repeated call gets the stored answer, or continues the work.
 * Throws IDEMPOTENCY_MISMATCH when the key was used with other content, and IDEMPOTENCY_IN_PROGRESS.
 */
export const oncePerKey = async <Result>(
  findKey: FindKey,
  { accountId, idempotency, now, work, resume = async () => null }: KeyedCall<Result>,
): Promise<Result | Replay> => {
  const inProgress = () => new AppError('IDEMPOTENCY_IN_PROGRESS', { extra: { retry_after: 1 } });
  const expiredBefore = new Date(now.getTime() - IDEMPOTENCY_RETENTION_MS);
  const repeat = async (): Promise<Result | Replay | null> => {
    const bound = idempotency && (await findKey(accountId, idempotency.key, expiredBefore));
    if (!bound) return null;
    if (Buffer.compare(bound.fingerprint, idempotency.fingerprint) !== 0) throw new AppError('IDEMPOTENCY_MISMATCH');
    if (bound.answer) return { kind: 'replay', answer: bound.answer };
    const resumed = await resume(bound, idempotency);
    if (resumed === null) throw inProgress();
    return resumed;
  };
  const result = (await repeat()) ?? (await work(idempotency && { ...idempotency, expiredBefore })) ?? (await repeat());
  if (result === null) throw inProgress();
  return result;
};
