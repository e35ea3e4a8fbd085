import { dispatchLines, findMalformedLines, settleMalformedLines, startBatches } from '@vat/db';
import { dispatchMemberState, recordMalformedLines } from '@vat/domain';
import { type DispatchJob, enqueueLines, type JobHandler } from '@vat/queues';
import type { Recording } from './compose-recording.js';
import type { WorkerContext } from './worker-context.js';

/** The dispatching of batch lines. Their lookups are served with all others. */
export const composeBatches = (
  { db, producer, now, publishChange }: WorkerContext,
  { make, record, progress }: Recording,
  stopping: AbortSignal,
) => {
  const dispatch = dispatchMemberState({
    dispatchLines: dispatchLines(db),
    enqueueLines: enqueueLines(producer),
    now,
  });
  const recordMalformed = recordMalformedLines({
    find: findMalformedLines(db),
    start: startBatches(db),
    make,
    settle: settleMalformedLines(db),
    recordCheck: record,
    advanced: progress.advanced,
    publishChange,
    now,
    stopping,
  });
  /** Moves waiting lines on: into the queue of their member state, or, for malformed numbers, to their check. */
  const batches: JobHandler<DispatchJob> = async ({ lane: queue }) => {
    if (queue === 'malformed') {
      await recordMalformed();
      return undefined;
    }
    const busy = await dispatch(queue);
    return busy ? { again: busy.retryAt } : undefined;
  };
  return { batches };
};
