import {
  deleteBatch,
  deleteCoverage,
  downloadLeases,
  findBatch,
  findCoverage,
  findCoverageHead,
  findIdempotencyKey,
  findResultsHead,
  findSupplyChecks,
  insertBatch,
  insertCoverage,
  listBatches,
  listCoverageLines,
  listCoverages,
  listLines,
  readBacklog,
  readCoverageResults,
  readMinutes,
  readRemaining,
  readResults,
  readUsualHours,
} from '@vat/db';
import {
  AppError,
  createBatch,
  createCoverage,
  forecastBatches,
  forecastIfPossible,
  readConditions,
} from '@vat/domain';
import { enqueueDelivery, enqueueDispatches } from '@vat/queues';
import { errorFields, throttledWarn } from '@vat/runtime';
import type { ApiContext } from './api-context.js';
import { cached } from './cached.js';
import type { CoverageRoutesDeps } from './coverage/coverage-routes.js';
import { holdLease } from './exports/send-zip.js';
import { sendFile } from './results/send-file.js';
import type { BatchRoutesDeps } from './routes/batches.js';
import type { StatusDeps } from './routes/usage-and-status.js';
import { atHalfSpeed, keyedSemaphore, oneAfterAnother, turnsByKey } from './turns.js';
import { createBatchReader } from './upload/create-batch-reader.js';
import { readUpload } from './upload/read-upload.js';

/** A file of 2 MiB takes this long at 35 KB/s. It begins when the upload has its turn. */
const UPLOAD_DEADLINE_MS = 60_000;

/** Uploads of one account that are held in memory at once, each 2 MiB and its rows. Further ones wait before they are read. */
const MAX_UPLOADS_PER_ACCOUNT = 3;
/** Uploads of one account that may wait. Each occupies a connection, with slow clients for as long as {@link UPLOAD_DEADLINE_MS} a turn. */
const MAX_WAITING_PER_ACCOUNT = 50;

/**
 * Uploads of all accounts that are parsed and stored at once. Each holds a database connection while its lines are written;
 * direct checks need the remaining ones.
 */
const MAX_STORING = 4;
/**
 * An upload is parsed and stored after the one before, which takes half a second of CPU time, so that uploads leave all
 * processors but one to direct checks. One that takes longer than this no longer delays the next.
 */
const OVERDUE_MS = 5_000;

/** Files that may wait to be stored, 2 MiB each. One account has at most {@link MAX_UPLOADS_PER_ACCOUNT} of them. */
const MAX_WAITING_FILES = 60;
const WAITING_RETRY_AFTER_S = 5;

const refuseUpload = (message: string) => () =>
  new AppError('RATE_LIMITED', { message, extra: { retry_after: WAITING_RETRY_AFTER_S } });

/**
 * Reading a file of 2 MiB takes up to one second of CPU time and 48 MiB of heap; the limits leave room for slow machines. With
 * two threads, one large file does not delay all others.
 */
const READER = { threads: 2, deadlineMs: 30_000, heapMb: 128 };

/** What forecasts of batches are derived from is read at most once in this time, and the usual speed of the hours in ten minutes. */
const CONDITIONS_CACHE_MS = 5_000;
const USUAL_HOURS_CACHE_MS = 600_000;

type UploadDeps = Omit<BatchRoutesDeps & CoverageRoutesDeps, 'baseUrl' | 'now' | 'certificateInTurn'>;

/** Composes uploads, batches and coverages, and their results. */
export const composeBatches = ({
  db,
  producer,
  publishChange,
  log,
  now,
  readDownStates,
}: Pick<ApiContext, 'db' | 'producer' | 'publishChange' | 'log' | 'now'> & Pick<StatusDeps, 'readDownStates'>): {
  deps: UploadDeps;
  close: () => Promise<void>;
} => {
  const reader = createBatchReader({
    ...READER,
    thread: new URL('./upload/read-batch.js', import.meta.url),
    onFailure: (error) => log.error('An idle file reader thread failed.', errorFields(error)),
  });
  const storeInTurn = turnsByKey({
    maxRunning: MAX_STORING,
    waiting: { max: MAX_WAITING_FILES, refuse: refuseUpload('Too many uploads are waiting to be stored.') },
  });
  const storeNext = oneAfterAnother(OVERDUE_MS);
  const insertInTurn = atHalfSpeed();
  const conditions = readConditions({
    readMinutes: readMinutes(db),
    readUsualHours: cached(readUsualHours(db), USUAL_HOURS_CACHE_MS),
    readDownStates,
    readBacklog: readBacklog(db),
  });
  const forecast = forecastIfPossible(
    forecastBatches({
      conditions: cached(conditions, CONDITIONS_CACHE_MS),
      readRemaining: readRemaining(db),
      now,
    }),
    throttledWarn(log, 'Batches are shown without a forecast: it could not be made.', now),
  );
  const creating = {
    findKey: findIdempotencyKey(db),
    dispatch: enqueueDispatches(producer),
    enqueueDelivery: enqueueDelivery(producer),
    onEnqueueFailure: (error: unknown) =>
      log.warn('Jobs of a batch were not enqueued; the sweep will enqueue them.', errorFields(error)),
  };
  const create = createBatch({ ...creating, forecast, insert: insertBatch(db, insertInTurn) });
  const createCovered = createCoverage({
    ...creating,
    findChecks: findSupplyChecks(db),
    insert: insertCoverage(db, insertInTurn),
  });
  const remove = deleteBatch(db);
  const removeCoverage = deleteCoverage(db);
  return {
    deps: {
      readUpload: readUpload({ deadlineMs: UPLOAD_DEADLINE_MS }),
      uploadInTurn: keyedSemaphore(MAX_UPLOADS_PER_ACCOUNT, {
        waiting: {
          most: MAX_WAITING_PER_ACCOUNT,
          refuse: refuseUpload('Too many uploads of the account are waiting to be read.'),
        },
      }),
      storeInTurn: (accountId, work, gone) => storeInTurn(accountId, () => storeNext(work), gone),
      readBatch: reader.read,
      readCoverage: reader.readCoverage,
      createCoverage: async (upload) => {
        const result = await createCovered(upload);
        publishChange(upload.caller.accountId, 'coverage');
        if (upload.plan.gaps !== null) publishChange(upload.caller.accountId, 'batches');
        return result;
      },
      listCoverages: listCoverages(db),
      findCoverage: findCoverage(db),
      listCoverageLines: listCoverageLines(db),
      coverageResults: { findHead: findCoverageHead(db), read: readCoverageResults(db) },
      deleteCoverage: async (id, accountId) => {
        const deleted = await removeCoverage(id, accountId);
        if (deleted) publishChange(accountId, 'coverage');
        return deleted;
      },
      createBatch: async (upload) => {
        const result = await create(upload);
        publishChange(upload.caller.accountId, 'batches');
        return result;
      },
      listBatches: listBatches(db),
      findBatch: findBatch(db),
      forecastBatches: forecast,
      listLines: listLines(db),
      batchResults: { findHead: findResultsHead(db), read: readResults(db) },
      sendFile: sendFile(
        holdLease({
          leases: downloadLeases(db),
          onFailure: (error) => log.warn('The lease of a download was not renewed or released.', errorFields(error)),
        }),
      ),
      deleteBatch: async (id, accountId) => {
        const outcome = await remove(id, accountId);
        if (outcome === 'deleted') publishChange(accountId, 'batches');
        return outcome;
      },
    },
    close: reader.close,
  };
};
