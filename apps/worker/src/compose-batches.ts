import { dispatchLines, findMalformedLines, settleMalformedLines, startBatches } from '@vat/db';
import { dispatchMemberState, recordMalformedLines } from '@vat/domain';
import { enqueueLines } from '@vat/queues';
import type { Recording } from './compose-recording.js';
import { dispatchLinesJob } from './processors/dispatch-lines.js';
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
    find: findMalformedLines(db, now),
    start: startBatches(db),
    make,
    settle: settleMalformedLines(db),
    recordCheck: record,
    advanced: progress.advanced,
    publishChange,
    now,
    stopping,
  });
  return { batches: dispatchLinesJob({ dispatch, recordMalformed }) };
};
