import { type DueStamp, publicId } from '@vat/domain';
import type { AnchorsReport, Closing } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import { errorFields, type Logger, type Metrics } from '@vat/runtime';

type CloseAnchorsDeps = {
  closeNext: () => Promise<Closing>;
  /** If it fails, the sweep finds the stamp. */
  enqueueStamp: (stamp: DueStamp) => Promise<void>;
  log: Logger;
};

/** Closes what waits into an anchor, or several where one would be too large, and has each stamped. */
export const closeAnchors =
  ({ closeNext, enqueueStamp, log }: CloseAnchorsDeps): JobHandler<{ task: 'close' }> =>
  async (_job, { stopping }) => {
    while (!stopping.aborted) {
      const startedAt = performance.now();
      const closing = await closeNext();
      if (closing.kind !== 'closed') return undefined;
      const { id, seq, treeSize, closedAt } = closing.anchor;
      const anchor = publicId('anchor', id);
      const durationMs = Math.round(performance.now() - startedAt);
      log.info('An anchor was closed.', { anchor, seq, tree_size: treeSize, duration_ms: durationMs });
      await enqueueStamp({ subjectId: id, dueAt: closedAt }).catch((error: unknown) =>
        log.warn('The stamp of an anchor was not enqueued; the sweep will.', { anchor, ...errorFields(error) }),
      );
      if (!closing.more) return undefined;
    }
    return { again: new Date() };
  };

type RecomputeAnchorsDeps = {
  verify: (signal: AbortSignal) => Promise<AnchorsReport>;
  metrics: Pick<Metrics, 'anchorDifferences'>;
  now: () => Date;
  log: Logger;
};

/** After a stop another worker begins anew, not at the same moment as the consumers of this one end. */
const AGAIN_MS = 5_000;

/** Recomputes all anchors and alarms at every difference: somebody changed what was recorded, or a disk did. */
export const recomputeAnchors =
  ({ verify, metrics, now, log }: RecomputeAnchorsDeps): JobHandler<{ task: 'verify' }> =>
  async (_job, { stopping }) => {
    const startedAt = now().getTime();
    const { differences, leftOff, whole, ...counts } = await verify(stopping);
    for (const { kind, detail, ...place } of differences)
      log.error('Anchored evidence is not what it was.', { kind, detail, ...place });
    // A walk that was called off says nothing about what it did not see.
    if (!whole) return { again: new Date(now().getTime() + AGAIN_MS) };
    const found = differences.length + leftOff;
    metrics.anchorDifferences.set(found);
    log.info('All anchors were recomputed.', {
      ...counts,
      differences: found,
      duration_ms: now().getTime() - startedAt,
    });
    return undefined;
  };
