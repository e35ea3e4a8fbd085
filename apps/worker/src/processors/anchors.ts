import type { closeAnchors } from '@vat/domain';
import type { AnchorsReport } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import type { Logger, Metrics } from '@vat/runtime';

/** Closes the waiting checks into anchors; the job runs again when the worker stops before all are closed. */
export const closeAnchorsJob =
  (close: ReturnType<typeof closeAnchors>): JobHandler<{ task: 'close' }> =>
  async (_job, { stopping }) =>
    (await close(stopping)) ? undefined : { again: new Date() };

type RecomputeAnchorsDeps = {
  verify: (signal: AbortSignal) => Promise<AnchorsReport>;
  metrics: Pick<Metrics, 'anchorDifferences'>;
  now: () => Date;
  log: Logger;
};

/** After a stop another worker starts over, once the consumers of this one have ended. */
const RESTART_DELAY_MS = 5_000;

/** Recomputes all anchors and logs every difference as an error: recorded data was changed, or storage is damaged. */
export const recomputeAnchors =
  ({ verify, metrics, now, log }: RecomputeAnchorsDeps): JobHandler<{ task: 'verify' }> =>
  async (_job, { stopping }) => {
    const startedAt = now().getTime();
    const { differences, leftOff, whole, ...counts } = await verify(stopping);
    for (const { kind, detail, ...position } of differences)
      log.error('Anchored evidence is not what it was.', { kind, detail, ...position });
    // An aborted run has not seen everything, so it sets no metric.
    if (!whole) return { again: new Date(now().getTime() + RESTART_DELAY_MS) };
    const found = differences.length + leftOff;
    metrics.anchorDifferences.set(found);
    log.info('All anchors were recomputed.', {
      ...counts,
      differences: found,
      duration_ms: now().getTime() - startedAt,
    });
    return undefined;
  };
