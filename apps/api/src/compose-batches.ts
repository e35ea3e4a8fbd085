import { setImmediate as breathe } from 'node:timers/promises';
import {
  type Database,
  deleteBatch,
  findBatch,
  findIdempotencyKey,
  findResultsHead,
  insertBatch,
  listBatches,
  listLines,
  readResults,
} from '@vat/db';
import { type CreateBatchDeps, createBatch } from '@vat/domain';
import { fewAtATime } from './few-at-a-time.js';
import type { BatchRoutesDeps } from './routes/batches.js';
import { readUpload } from './upload/read-upload.js';

/** A file of 2 MiB takes this long at 35 KB/s. */
const UPLOAD_DEADLINE_MS = 60_000;

/** Uploads of one account held in memory side by side, each of 2 MiB and its rows; others wait before they are read. */
const UPLOADS_AT_ONCE = 3;

export type BatchesDeps = Pick<
  CreateBatchDeps,
  'feed' | 'enqueueDelivery' | 'onEnqueueFailure' | 'giveUpAfterMs' | 'now'
> & {
  db: Database;
};

/** What the routes of batches are made of. */
export const composeBatches = ({ db, ...deps }: BatchesDeps): Omit<BatchRoutesDeps, 'baseUrl'> => ({
  readUpload: readUpload({ deadlineMs: UPLOAD_DEADLINE_MS }),
  inTurn: fewAtATime(UPLOADS_AT_ONCE),
  createBatch: createBatch({
    ...deps,
    findKey: findIdempotencyKey(db),
    insert: insertBatch(db),
    breathe: () => breathe(),
  }),
  listBatches: listBatches(db),
  findBatch: findBatch(db),
  listLines: listLines(db),
  findResultsHead: findResultsHead(db),
  readResults: readResults(db),
  deleteBatch: deleteBatch(db),
});
