import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { openTimestamper } from '@vat/composition';
import { auditAnchors, closeAlone, findPendingStamp, recordStamp } from '@vat/db';
import { attemptStamp, closeAnchors, makeStamp, publicId, recomputeAnchors } from '@vat/domain';
import { closeNextAnchor, domainStamper, expiresSoon, verifyAnchors } from '@vat/evidence/proof';
import { type EvidenceJob, enqueueStamp, type JobHandler } from '@vat/queues';
import { errorFields, throttledWarn } from '@vat/runtime';
import type { WorkerContext } from './worker-context.js';

/** Pause between two chunks of the recomputation: it must not dominate the load on Postgres. */
const PAUSE_MS = 20;

/** Time-stamps, the closing of anchors and their recomputation. Throws SettingsError. */
export const composeEvidence = (context: WorkerContext, abort: AbortSignal) => {
  const { settings, log, now, metrics, db, producer, publishChange, anchorFinding } = context;
  const timestamper = openTimestamper(settings, context);
  const stamper = domainStamper(timestamper);
  const part = { name: 'time-stamps', stop: async () => timestamper.close() };
  // Every query in flight adds a listener; this is not a leak.
  setMaxListeners(0, abort);

  const warnFailure = throttledWarn(log, 'A time-stamp request failed; will retry.', now);
  const stamp = attemptStamp({
    makeStamp: makeStamp({
      findPending: findPendingStamp(db),
      ...stamper,
      record: recordStamp(db),
      retryDelaysMs: settings.TSA_RETRY_DELAYS,
      now,
    }),
    reasonOf: stamper.reasonOf,
    publishChange,
    onAttempted: (made, durationMs) => {
      metrics.stampTries.observe({ outcome: made.kind }, durationMs / 1_000);
      const { subjectId: subject, kind, attempts } = made.stamp;
      if (made.kind === 'stamped') log.info('A time-stamp was made.', { subject, kind, attempts: attempts + 1 });
      else warnFailure(new Error(made.error), { subject, kind, attempts });
    },
    now,
  });
  const close = closeAnchors({
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
  });
  const verify = recomputeAnchors({
    verify: verifyAnchors({
      audit: auditAnchors(db),
      now,
      trustedRoots: settings.TSA_ROOTS === undefined ? [] : [settings.TSA_ROOTS],
      pause: () => setTimeout(PAUSE_MS),
    }),
    onDifference: (difference) => log.error('Anchored evidence is not what it was.', { ...difference }),
    onRecomputed: ({ anchors, leaves, stamps, development, renewed, validUntil }, differences, durationMs) => {
      anchorFinding.report(differences);
      metrics.anchorsRecomputed.set(now().getTime() / 1_000);
      if (expiresSoon(validUntil, now()))
        log.warn('The time-stamps of all anchors expire soon. Use an authority with a new certificate before that.', {
          expires_at: validUntil?.toISOString(),
        });
      log.info('All anchors were recomputed.', {
        ...{ anchors, leaves, stamps, development, renewed: renewed.length, differences, duration_ms: durationMs },
      });
    },
    now,
  });
  const run = async (job: EvidenceJob, stopping: AbortSignal): Promise<Date | null> => {
    if (job.task === 'stamp') return stamp(job.subject_id, abort);
    if (job.task === 'verify') return verify(stopping);
    return (await close(stopping)) ? null : new Date();
  };
  const evidence: JobHandler<EvidenceJob> = async (job, { stopping }) => {
    const again = await run(job, stopping);
    return again === null ? undefined : { again };
  };
  return { evidence, parts: [part] };
};
