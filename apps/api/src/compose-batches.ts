import {
  type Database,
  deleteBatch,
  downloadLeases,
  findBatch,
  findIdempotencyKey,
  findResultsHead,
  insertBatch,
  listBatches,
  listLines,
  readResults,
} from '@vat/db';
import { AppError, type CreateBatchDeps, createBatch } from '@vat/domain';
import { errorFields, type Logger } from '@vat/runtime';
import { holdLease } from './exports/send-zip.js';
import type { BatchRoutesDeps } from './routes/batches.js';
import { keyedSemaphore, turnsByKey } from './turns.js';
import { createBatchReader } from './upload/create-batch-reader.js';
import { readUpload } from './upload/read-upload.js';

/** A file of 2 MiB takes this long at 35 KB/s. */
const UPLOAD_DEADLINE_MS = 60_000;

/** Uploads of one account held in memory side by side, each of 2 MiB and its rows; others wait before they are read. */
const UPLOADS_AT_ONCE = 3;

/**
 * Uploads of all accounts that are parsed and stored side by side. Each holds a connection for as long as its lines are
 * written, and direct checks need those that are left. Source: contract part 3 §1.
 */
const STORED_AT_ONCE = 4;

/** Files that may wait for that, 2 MiB each; an account has at most {@link UPLOADS_AT_ONCE} of them. */
const WAITING_FILES = 60;
const WAITING_RETRY_AFTER_S = 5;

const tooManyWaiting = () =>
  new AppError('RATE_LIMITED', {
    message: 'Too many uploads are waiting to be stored.',
    extra: { retry_after: WAITING_RETRY_AFTER_S },
  });

/**
 * Reading a file of 2 MiB takes up to a second of a core and 48 MiB of heap; the rest is for slow machines. The second thread
 * keeps one such file from holding up the others.
 */
const READER = { threads: 2, deadlineMs: 30_000, heapMb: 128 };

type BatchesDeps = Pick<CreateBatchDeps, 'feed' | 'enqueueDelivery' | 'onEnqueueFailure' | 'giveUpAfterMs'> & {
  db: Database;
  log: Logger;
};

/** What the routes of batches are made of. */
export const composeBatches = ({
  db,
  log,
  ...deps
}: BatchesDeps): { deps: Omit<BatchRoutesDeps, 'baseUrl' | 'now'>; close: () => Promise<void> } => {
  const reader = createBatchReader({
    ...READER,
    thread: new URL('./upload/read-batch.js', import.meta.url),
    onFailure: (error) => log.error('A thread that reads files failed while it was idle.', errorFields(error)),
  });
  return {
    deps: {
      readUpload: readUpload({ deadlineMs: UPLOAD_DEADLINE_MS }),
      uploadInTurn: keyedSemaphore(UPLOADS_AT_ONCE),
      storeInTurn: turnsByKey({ atOnce: STORED_AT_ONCE, waiting: { max: WAITING_FILES, refuse: tooManyWaiting } }),
      readBatch: reader.read,
      createBatch: createBatch({ ...deps, findKey: findIdempotencyKey(db), insert: insertBatch(db) }),
      listBatches: listBatches(db),
      findBatch: findBatch(db),
      listLines: listLines(db),
      findResultsHead: findResultsHead(db),
      readResults: readResults(db),
      holdDownload: holdLease({
        leases: downloadLeases(db),
        onFailure: (error) => log.warn("A download's lease was not renewed or released.", errorFields(error)),
      }),
      deleteBatch: deleteBatch(db),
    },
    close: reader.close,
  };
};
