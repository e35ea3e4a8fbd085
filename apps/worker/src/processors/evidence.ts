import type { attemptStamp, closeAnchors, recomputeAnchors } from '@vat/domain';
import type { EvidenceJob, JobHandler } from '@vat/queues';

type EvidenceJobsDeps = {
  stamp: ReturnType<typeof attemptStamp>;
  close: ReturnType<typeof closeAnchors>;
  verify: ReturnType<typeof recomputeAnchors>;
  /** Aborts when a stopping worker no longer waits for open requests. */
  abort: AbortSignal;
};

/** Obtains one time-stamp, closes the waiting checks into anchors, or recomputes all anchors. */
export const evidenceJobs = ({ stamp, close, verify, abort }: EvidenceJobsDeps): JobHandler<EvidenceJob> => {
  const run = async (job: EvidenceJob, stopping: AbortSignal): Promise<Date | null> => {
    if (job.task === 'stamp') return stamp(job.subject_id, abort);
    if (job.task === 'verify') return verify(stopping);
    return (await close(stopping)) ? null : new Date();
  };
  return async (job, { stopping }) => {
    const again = await run(job, stopping);
    return again === null ? undefined : { again };
  };
};
