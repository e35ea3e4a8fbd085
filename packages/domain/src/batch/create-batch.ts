import { periodEnd, periodOf } from '../account/period.js';
import type { DueDelivery } from '../delivery/delivery.js';
import { AppError } from '../errors.js';
import { newUuid } from '../ids.js';
import type { BoundKey, StoredAnswer } from '../request/ports.js';
import { readRequester } from '../request/read-call.js';
import { replayOf } from '../request/replay-of.js';
import { IDEMPOTENCY_KEPT_MS } from '../request/request-check.js';
import { type Batch, MAX_ACTIVE_BATCHES } from './batch.js';
import { planBatch } from './plan-batch.js';
import type { BatchRow, FeedLane, InsertBatch } from './ports.js';
import { storableText } from './storable-text.js';

/** An upload whose file has been read. */
export type BatchUpload = {
  caller: { accountId: string; quota: number; disabled: boolean };
  label: string | null;
  fileName: string | null;
  /** As the caller wrote it. */
  requester: string | undefined;
  header: readonly string[] | null;
  rows: readonly BatchRow[];
  idempotency: { key: string; fingerprint: Uint8Array } | null;
  /** The 201 of a batch as it stands when it is created; kept with the key, byte for byte. */
  answerOf: (batch: Batch) => StoredAnswer;
};

/** `replay`: the upload had been made before with the same Idempotency-Key. */
export type BatchUploadResult =
  | { kind: 'created'; batch: Batch; answer: StoredAnswer }
  | { kind: 'replay'; answer: StoredAnswer };

export type CreateBatchDeps = {
  findKey: (accountId: string, key: string, expiredBefore: Date) => Promise<BoundKey | null>;
  insert: InsertBatch;
  /** Starts the work on a batch's lines, or fails quickly. A failure is no harm: the sweep starts it. Not waited for. */
  feed: (lanes: FeedLane[]) => Promise<void>;
  /** Sends batch.completed of a file none of whose lines could be asked; a failure is no harm. Not waited for. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  onEnqueueFailure: (error: unknown) => void;
  /** BACKGROUND_GIVE_UP_AFTER */
  giveUpAfterMs: number;
  /** Lets other work of the process run: a file of 10 000 rows is planned in slices. */
  breathe: () => Promise<void>;
  now: () => Date;
};

/** What a caller should wait while the first call with its key still runs, in seconds. */
const IN_PROGRESS_RETRY_AFTER_S = 1;

/**
 * Creates a batch from the rows of a file: judges the requester, the account, the Idempotency-Key and the number of active
 * batches, in the order of contract part 2 §1, and writes batch, lines and requests in one transaction.
 * Throws INVALID_REQUESTER, ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, TOO_MANY_BATCHES.
 */
export const createBatch =
  (deps: CreateBatchDeps) =>
  async (upload: BatchUpload): Promise<BatchUploadResult> => {
    const requester = readRequester(upload.requester);
    const { caller, idempotency } = upload;
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');
    const now = deps.now();
    const expiredBefore = new Date(now.getTime() - IDEMPOTENCY_KEPT_MS);
    const earlier = idempotency && (await deps.findKey(caller.accountId, idempotency.key, expiredBefore));
    if (idempotency && earlier) return { kind: 'replay', answer: replayOf(earlier, idempotency.fingerprint) };

    const plan = await planBatch({ rows: upload.rows, requester, at: now }, deps.breathe);
    const period = periodOf(now);
    const inserted = await deps.insert({
      id: newUuid(),
      accountId: caller.accountId,
      label: upload.label,
      fileName: upload.fileName,
      requester,
      header: upload.header?.map(storableText) ?? null,
      ...plan,
      quota: { period, limit: caller.quota },
      overQuota: {
        code: 'QUOTA_EXCEEDED',
        message: `The month's checks are used up; new ones are there from ${periodEnd(period).toISOString()}.`,
      },
      createdAt: now,
      giveUpAt: new Date(now.getTime() + deps.giveUpAfterMs),
      maxActive: MAX_ACTIVE_BATCHES,
      idempotency: idempotency && { ...idempotency, expiredBefore },
      answerOf: upload.answerOf,
    });
    if (inserted.kind === 'key_taken') {
      if (idempotency === null || inserted.bound === null)
        throw new AppError('IDEMPOTENCY_IN_PROGRESS', { extra: { retry_after: IN_PROGRESS_RETRY_AFTER_S } });
      return { kind: 'replay', answer: replayOf(inserted.bound, idempotency.fingerprint) };
    }
    if (inserted.kind === 'too_many_batches')
      throw new AppError('TOO_MANY_BATCHES', { extra: { active: inserted.active } });
    const { batch, answer, deliveryId } = inserted;
    if (batch.status !== 'completed') deps.feed(lanesOf(plan.requests)).catch(deps.onEnqueueFailure);
    if (deliveryId !== null)
      deps
        .enqueueDelivery({ id: deliveryId, accountId: caller.accountId, attempt: 1, dueAt: now })
        .catch(deps.onEnqueueFailure);
    return { kind: 'created', batch, answer };
  };

const lanesOf = (requests: { memberState: FeedLane; answer: unknown }[]): FeedLane[] => [
  ...new Set(requests.map((request) => (request.answer === null ? request.memberState : ('malformed' as const)))),
];
