import { periodEnd, periodOf } from '../account/account.js';
import type { DueDelivery } from '../delivery/delivery.js';
import { AppError } from '../errors.js';
import type { FindKey, IdempotencyKey, StoredAnswer, UnexpiredKey } from '../idempotency-key.js';
import { newUuidAt } from '../ids.js';
import { oncePerKey, type Replay } from '../once-per-key.js';
import { neverAskedAt } from '../request/give-up.js';
import { readRequester } from '../request/request-check.js';
import type { BatchRow, BatchRows, DispatchQueue, InsertBatch, LineLimit, PackedPlan, UploadRefusal } from './batch.js';
import { type Batch, LINE_WINDOW_MS, MAX_ACTIVE_BATCHES, MAX_UPLOADED_LINES } from './batch.js';
import { type BatchForecast, type ForecastBatches, NO_FORECAST, type RemainingLines } from './forecast-batches.js';
import { packPlan } from './pack-plan.js';
import { planBatch, storableText } from './plan-batch.js';

/** An upload whose file has been read and planned. */
export type BatchUpload = Pick<BatchRows, 'label' | 'fileName' | 'requester' | 'header' | 'createdAt'> & {
  caller: { accountId: string; quota: number; disabled: boolean };
  /** Planned with `requester` at `createdAt`. */
  plan: PackedPlan;
  idempotency: IdempotencyKey | null;
  /** The 201 of a batch at its creation; stored with the key, byte for byte. */
  answerOf: (batch: Batch, forecast: BatchForecast) => StoredAnswer;
};

type CreatedBatch = { kind: 'created'; batch: Batch; answer: StoredAnswer };

/** `replay`: an earlier upload used the same Idempotency-Key. */
export type BatchUploadResult = CreatedBatch | Replay;

/** What starts the work on a new batch. */
export type StartBatchDeps = {
  /** Starts the work on a batch's lines, or fails quickly. A failure is harmless: the sweep starts it. Not awaited. */
  dispatch: (queues: readonly DispatchQueue[]) => Promise<void>;
  /** Enqueues batch.completed of a file none of whose lines can be looked up. A failure is harmless. Not awaited. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  onEnqueueFailure: (error: unknown) => void;
};

type CreateBatchDeps = StartBatchDeps & {
  findKey: FindKey;
  insert: InsertBatch;
  forecast: ForecastBatches;
};

/** The limit of the lines of an account that are uploaded until `now`. */
export const lineLimitAt = (now: Date): LineLimit => ({
  max: MAX_UPLOADED_LINES,
  since: new Date(now.getTime() - LINE_WINDOW_MS),
});

/** The rows of a new batch without a line limit: its lines are counted by the caller. */
export const batchRowsOf = ({
  caller,
  label,
  fileName,
  requester,
  header,
  plan,
  createdAt,
}: Omit<BatchUpload, 'idempotency' | 'answerOf'>): BatchRows => {
  const period = periodOf(createdAt);
  return {
    id: newUuidAt(createdAt),
    accountId: caller.accountId,
    label,
    fileName,
    requester,
    header,
    ...plan,
    quota: { period, limit: caller.quota },
    overQuota: {
      code: 'QUOTA_EXCEEDED',
      message: `The month's checks are used up; new ones are there from ${periodEnd(period).toISOString()}.`,
    },
    createdAt,
    giveUpAt: neverAskedAt(createdAt),
    maxActive: MAX_ACTIVE_BATCHES,
    lineLimit: null,
  };
};

/** Throws ACCOUNT_DISABLED, TOO_MANY_BATCHES or BATCH_LINE_LIMIT. */
export const throwRefusal = (refusal: Exclude<UploadRefusal, { kind: 'key_taken' }>): never => {
  if (refusal.kind === 'account_disabled') throw new AppError('ACCOUNT_DISABLED');
  if (refusal.kind === 'too_many_batches')
    throw new AppError('TOO_MANY_BATCHES', { extra: { active: refusal.active } });
  const resetAt = new Date(refusal.freedBy.getTime() + LINE_WINDOW_MS);
  throw new AppError('BATCH_LINE_LIMIT', { extra: { reset_at: resetAt.toISOString() } });
};

/** Starts the work on a batch that was written. `deliveryId`: of batch.completed, when nothing can be looked up. */
export const startBatch = (
  { dispatch, enqueueDelivery, onEnqueueFailure }: StartBatchDeps,
  { accountId, queues, createdAt }: Pick<BatchRows, 'accountId' | 'queues' | 'createdAt'>,
  { completed, deliveryId }: { completed: boolean; deliveryId: string | null },
): void => {
  if (!completed) dispatch(queues.map(({ queue }) => queue)).catch(onEnqueueFailure);
  if (deliveryId !== null)
    enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: createdAt }).catch(onEnqueueFailure);
};

/** The part of an upload that is derived from its file. */
export type PlannedFile = Pick<BatchUpload, 'header' | 'requester' | 'plan' | 'createdAt'>;

/** Plans a file that has been read, for {@link createBatch}. `requester`: as the caller wrote it. Throws INVALID_REQUESTER. */
export const planFile = (
  file: { header: readonly string[] | null; rows: readonly BatchRow[] },
  requester: string | undefined,
  createdAt: Date,
): PlannedFile => {
  const read = readRequester(requester);
  return {
    header: file.header?.map(storableText) ?? null,
    requester: read,
    plan: packPlan(planBatch({ rows: file.rows, requester: read, at: createdAt })),
    createdAt,
  };
};

/**
 * Creates a batch from a planned file: checks the account, the Idempotency-Key, the number of active batches and the lines of
 * the last 24 hours, in this order, and writes batch, lines and requests in one transaction.
 * Throws ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, TOO_MANY_BATCHES, BATCH_LINE_LIMIT.
 */
export const createBatch =
  (deps: CreateBatchDeps) =>
  async (upload: BatchUpload): Promise<BatchUploadResult> => {
    const { caller, idempotency, createdAt: now } = upload;
    const { accountId } = caller;
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');
    const work = async (key: UnexpiredKey | null): Promise<CreatedBatch | null> => {
      const rows = batchRowsOf(upload);
      const toForecast = { id: rows.id, status: 'queued', createdAt: now } as const;
      const forecast = (await deps.forecast(accountId, [toForecast], remainingOf(rows.id, rows))).get(rows.id);
      const inserted = await deps.insert({
        ...rows,
        lineLimit: lineLimitAt(now),
        idempotency: key,
        answerOf: (batch) =>
          upload.answerOf(batch, (batch.status === 'completed' ? undefined : forecast) ?? NO_FORECAST),
      });
      if (inserted.kind === 'key_taken') return null;
      if (inserted.kind !== 'created') return throwRefusal(inserted);
      const { batch, answer, deliveryId } = inserted;
      startBatch(deps, rows, { completed: batch.status === 'completed', deliveryId });
      return { kind: 'created', batch, answer };
    };
    return oncePerKey(deps.findKey, { accountId, idempotency, now, work });
  };

/** What a planned batch will wait for. */
const remainingOf = (batchId: string, { queues }: PackedPlan): RemainingLines[] =>
  queues.flatMap(({ queue, requests }) => (queue === 'malformed' ? [] : [{ batchId, memberState: queue, requests }]));
