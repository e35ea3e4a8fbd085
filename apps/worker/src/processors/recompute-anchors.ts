import type { AnchorsReport } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import type { Logger, Metrics } from '@vat/runtime';

export type RecomputeAnchorsDeps = {
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
