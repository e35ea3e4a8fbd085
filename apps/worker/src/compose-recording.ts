import { randomBytes } from 'node:crypto';
import { completeBatches, dispatchLines, findRunningWatch, queuesToDispatch, settleRequest } from '@vat/db';
import { type DueDelivery, publicId } from '@vat/domain';
import { hashCheck } from '@vat/evidence/proof';
import { enqueueDelivery, enqueueDispatches, enqueueLines, publishNotification, type RequestJob } from '@vat/queues';
import { errorFields, throttledWarn } from '@vat/runtime';
import { createBatchProgress } from './batch-progress.js';
import { dispatchLocally } from './processors/dispatch-lines.js';
import { makeCheck, observeWatch, recordCheck } from './processors/settle-check.js';
import type { WorkerRole } from './settings.js';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** How checks are recorded, and who is told: shared by the asks and by the lines of batches that need none. */
export type Recording = ReturnType<typeof composeRecording>;

export const composeRecording = (
  { settings, log, now, db, producer, producerRedis, publishChange }: WorkerContext,
  roles: readonly WorkerRole[],
) => {
  const publish = publishNotification(producerRedis, settings.REDIS_PREFIX);
  /** Hints are lost without harm: the API polls. */
  const hint = (job: RequestJob) =>
    job.reply_to === undefined ? Promise.resolve() : publish(job.reply_to, job.request_id).catch(() => undefined);
  const addDelivery = enqueueDelivery(producer);
  const tell = (delivery: DueDelivery) => {
    publishChange(delivery.accountId, 'deliveries', publicId('delivery', delivery.id));
    return addDelivery(delivery).catch((error: unknown) =>
      log.warn('A delivery was not enqueued; the sweep will.', { delivery: delivery.id, ...errorFields(error) }),
    );
  };
  const feed = enqueueDispatches(producer);
  const dispatchDirectly = dispatchLocally({
    dispatchLines: dispatchLines(db),
    enqueueLines: enqueueLines(producer),
    enqueueDispatches: feed,
    now,
  });
  const progress = createBatchProgress({
    complete: completeBatches(db),
    queuesToDispatch: queuesToDispatch(db),
    // A process that would serve the job itself is spared it.
    feed: roles.includes('batches') ? dispatchDirectly : feed,
    enqueueDelivery: tell,
    publishChange,
    onError: throttledWarn(
      log,
      'The progress of batches was not looked after; the sweep will.',
      REPEAT_WARNING_MS,
      now,
    ),
    now,
    log,
  });
  const make = makeCheck({ hashCheck, newSalt: () => randomBytes(16).toString('hex') });
  const record = recordCheck({
    make,
    observeWatch: observeWatch({ findRunningWatch: findRunningWatch(db) }),
    settleRequest: settleRequest(db),
    enqueueDelivery: tell,
    advanced: progress.advanced,
    publishChange,
    hint,
    now,
    log,
  });
  return { make, record, hint, tell, feed, progress };
};
