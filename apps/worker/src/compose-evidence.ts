import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { auditAnchors, closeAlone, findPendingStamp, recordStamp } from '@vat/db';
import { makeStamp } from '@vat/domain';
import { closeNextAnchor, verifyAnchors } from '@vat/evidence/proof';
import { type EvidenceJob, enqueueStamp, evidenceQueue, type JobHandler } from '@vat/queues';
import { type Stoppable, throttledWarn } from '@vat/runtime';
import { openTimestamper } from './open-timestamper.js';
import { closeAnchors, recomputeAnchors } from './processors/anchors.js';
import { makeTimeStamp } from './processors/make-time-stamp.js';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** Between two slices of the recomputation, so that it is never most of what Postgres does. */
const PAUSE_MS = 20;

/** Serves time-stamps, the closing of anchors and their recomputation. Throws SettingsError. */
export const composeEvidence = (foundation: WorkerContext, cut: AbortSignal): Stoppable[] => {
  const { settings, log, now, metrics, db, producer, publishChange, serve } = foundation;
  const { stamper, part } = openTimestamper(foundation);
  // Every query in flight listens; that is no leak.
  setMaxListeners(0, cut);

  const stamp = makeTimeStamp({
    makeStamp: makeStamp({
      findPending: findPendingStamp(db),
      ...stamper,
      record: recordStamp(db),
      retryDelaysMs: settings.TSA_RETRY_DELAYS,
      now,
    }),
    cut,
    metrics,
    onFailure: throttledWarn(log, 'A time-stamp was not had; it is tried again.', REPEAT_WARNING_MS, now),
    publishChange,
    log,
  });
  const close = closeAnchors({
    closeNext: closeNextAnchor({ closeAlone: closeAlone(db), now }),
    enqueueStamp: enqueueStamp(producer),
    log,
  });
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
  const handle: JobHandler<EvidenceJob> = (job, context) => {
    if (job.task === 'stamp') return stamp(job, context);
    return job.task === 'close' ? close(job, context) : verify(job, context);
  };
  serve(evidenceQueue, handle);
  return [part];
};
