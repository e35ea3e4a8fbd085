import { feedLines, findMalformedLines, settleMalformedLines, startBatches } from '@vat/db';
import { batchesQueue, enqueueLines } from '@vat/queues';
import type { Recording } from './compose-recording.js';
import type { Foundation } from './foundation.js';
import { feedLane } from './processors/dispatch-lines.js';
import { recordMalformedLines } from './processors/record-malformed-lines.js';

/** Serves the feeding of batches' lines; the asks themselves are served with all others. */
export const composeBatches = (
  foundation: Foundation,
  { make, record, progress }: Recording,
  stopping: AbortSignal,
): void => {
  const { db, producer, serve, now, tellPages } = foundation;
  serve(
    batchesQueue,
    feedLane({
      feedLines: feedLines(db),
      enqueueLines: enqueueLines(producer),
      recordMalformed: recordMalformedLines({
        find: findMalformedLines(db),
        start: startBatches(db),
        make,
        settle: settleMalformedLines(db),
        recordCheck: record,
        advanced: progress.advanced,
        tellPages,
        now,
        stopping,
      }),
      now,
    }),
  );
};
