import { dispatchLines, findMalformedLines, settleMalformedLines, startBatches } from '@vat/db';
import { batchesQueue, enqueueLines } from '@vat/queues';
import type { Recording } from './compose-recording.js';
import { dispatchQueueLines } from './processors/dispatch-lines.js';
import { recordMalformedLines } from './processors/record-malformed-lines.js';
import type { WorkerContext } from './worker-context.js';

/** Serves the feeding of batches' lines; the asks themselves are served with all others. */
export const composeBatches = (
  foundation: WorkerContext,
  { make, record, progress }: Recording,
  stopping: AbortSignal,
): void => {
  const { db, producer, serve, now, publishChange } = foundation;
  serve(
    batchesQueue,
    dispatchQueueLines({
      dispatchLines: dispatchLines(db),
      enqueueLines: enqueueLines(producer),
      recordMalformed: recordMalformedLines({
        find: findMalformedLines(db),
        start: startBatches(db),
        make,
        settle: settleMalformedLines(db),
        recordCheck: record,
        advanced: progress.advanced,
        publishChange,
        now,
        stopping,
      }),
      now,
    }),
  );
};
