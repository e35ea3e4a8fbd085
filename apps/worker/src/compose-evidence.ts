import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { auditAnchors, closeAlone, findPendingStamp, recordStamp } from '@vat/db';
import { closeAnchors, makeStamp, publicId } from '@vat/domain';
import { closeNextAnchor, verifyAnchors } from '@vat/evidence/proof';
import { type EvidenceJob, enqueueStamp, type JobHandler } from '@vat/queues';
import { errorFields, throttledWarn } from '@vat/runtime';
import { openTimestamper } from './open-timestamper.js';
import { closeAnchorsJob, recomputeAnchors } from './processors/anchors.js';
import { makeTimeStamp } from './processors/make-time-stamp.js';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** Pause between two chunks of the recomputation: it must not dominate the load on Postgres. */
const PAUSE_MS = 20;

/** Time-stamps, the closing of anchors and their recomputation. Throws SettingsError. */
export const composeEvidence = (context: WorkerContext, abort: AbortSignal) => {
  const { settings, log, now, metrics, db, producer, publishChange } = context;
  const { stamper, part } = openTimestamper(context);
  // Every query in flight adds a listener; this is not a leak.
  setMaxListeners(0, abort);

  const stamp = makeTimeStamp({
    makeStamp: makeStamp({
      findPending: findPendingStamp(db),
      ...stamper,
      record: recordStamp(db),
      retryDelaysMs: settings.TSA_RETRY_DELAYS,
      now,
    }),
    abort,
    metrics,
    onFailure: throttledWarn(log, 'A time-stamp request failed; will retry.', REPEAT_WARNING_MS, now),
    publishChange,
    log,
  });
  const close = closeAnchorsJob(
    closeAnchors({
      closeNext: closeNextAnchor({ closeAlone: closeAlone(db), now }),
      enqueueStamp: enqueueStamp(producer),
      onClosed: ({ id, seq, treeSize }, durationMs) =>
        log.info('An anchor was closed.', {
          anchor: publicId('anchor', id),
          seq,
          tree_size: treeSize,
          duration_ms: durationMs,
        }),
      onEnqueueFailure: ({ id }, error) =>
        log.warn('The time-stamp of an anchor was not enqueued; the sweep will enqueue it.', {
          anchor: publicId('anchor', id),
          ...errorFields(error),
        }),
      now,
    }),
  );
  const verify = recomputeAnchors({
    verify: verifyAnchors({
      audit: auditAnchors(db),
      trustedRoots: settings.TSA_ROOTS === undefined ? [] : [settings.TSA_ROOTS],
      pause: () => setTimeout(PAUSE_MS),
    }),
    metrics,
    now,
    log,
  });
  const evidence: JobHandler<EvidenceJob> = (job, jobContext) => {
    if (job.task === 'stamp') return stamp(job, jobContext);
    return job.task === 'close' ? close(job, jobContext) : verify(job, jobContext);
  };
  return { evidence, parts: [part] };
};
