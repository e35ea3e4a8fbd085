import { setTimeout as pause } from 'node:timers/promises';
import { completeBatches, dispatchLines, findRunningWatch, queuesToDispatch, settleRequest } from '@vat/db';
import {
  createBatchProgress,
  type DueDelivery,
  dispatchLocally,
  makeCheck,
  observeWatch,
  publicId,
  type RequestRef,
  recordCheck,
  type StoredCheck,
} from '@vat/domain';
import { hashCheck, newSalt } from '@vat/evidence/proof';
import { enqueueDelivery, enqueueDispatches, enqueueLines, publishNotification } from '@vat/queues';
import { errorFields, throttledWarn, traceFields } from '@vat/runtime';
import type { WorkerRole } from './settings.js';
import type { WorkerContext } from './worker-context.js';

/** How checks are recorded and published: shared by lookups and by lines of batches that need none. */
export type Recording = ReturnType<typeof composeRecording>;

export const composeRecording = (
  { settings, log, now, db, producer, producerRedis, publishChange }: WorkerContext,
  roles: readonly WorkerRole[],
) => {
  const publish = publishNotification(producerRedis, settings.REDIS_PREFIX, settings.SECRET_KEY);
  /** A lost notification is harmless: the API polls. */
  const notifyCaller = ({ requestId, replyTo, replyWithCheck }: RequestRef, check?: StoredCheck) => {
    if (replyTo === undefined) return Promise.resolve();
    return publish(replyTo, { requestId, check: replyWithCheck ? check : undefined }).catch(() => undefined);
  };
  const addDelivery = enqueueDelivery(producer);
  const sendDelivery = (delivery: DueDelivery) => {
    publishChange(delivery.accountId, 'deliveries', publicId('delivery', delivery.id));
    return addDelivery(delivery).catch((error: unknown) =>
      log.warn('A delivery was not enqueued; the sweep will enqueue it.', {
        delivery: publicId('delivery', delivery.id),
        ...traceFields(delivery.traceparent),
        ...errorFields(error),
      }),
    );
  };
  const dispatchByJob = enqueueDispatches(producer, now);
  const dispatchDirectly = dispatchLocally({
    dispatchLines: dispatchLines(db),
    enqueueLines: enqueueLines(producer),
    enqueueDispatches: dispatchByJob,
    now,
  });
  const progress = createBatchProgress({
    complete: completeBatches(db),
    queuesToDispatch: queuesToDispatch(db, now),
    // A process that serves these jobs dispatches without one.
    dispatch: roles.includes('batches') ? dispatchDirectly : dispatchByJob,
    enqueueDelivery: sendDelivery,
    publishChange,
    onCompleted: ({ id, done, failed }) =>
      log.info('A batch was completed.', { batch: publicId('batch', id), done, failed }),
    onError: throttledWarn(log, 'The progress of batches was not processed; the sweep will process it.', now),
    pause: (ms) => pause(ms),
    now,
  });
  const make = makeCheck({ hashCheck, newSalt });
  const record = recordCheck({
    make,
    observeWatch: observeWatch(findRunningWatch(db)),
    settleRequest: settleRequest(db),
    enqueueDelivery: sendDelivery,
    advanced: progress.advanced,
    publishChange,
    notifyCaller,
    onRecorded: ({ id, request_id, verdict }, { traceparent }) =>
      log.debug('A check was recorded.', { request: request_id, check_id: id, verdict, ...traceFields(traceparent) }),
    now,
  });
  return { make, record, notifyCaller, sendDelivery, dispatchByJob, progress };
};
