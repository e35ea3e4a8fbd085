import type { dispatchMemberState, recordMalformedLines } from '@vat/domain';
import type { DispatchJob, JobHandler } from '@vat/queues';

type DispatchLinesJobDeps = {
  dispatch: ReturnType<typeof dispatchMemberState>;
  recordMalformed: ReturnType<typeof recordMalformedLines>;
};

/** Moves waiting lines of batches on: into the queue of their member state, or, for malformed numbers, to their check. */
export const dispatchLinesJob =
  ({ dispatch, recordMalformed }: DispatchLinesJobDeps): JobHandler<DispatchJob> =>
  async ({ lane: queue }) => {
    if (queue === 'malformed') {
      await recordMalformed();
      return undefined;
    }
    const busy = await dispatch(queue);
    return busy ? { again: busy.retryAt } : undefined;
  };
