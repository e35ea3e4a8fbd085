import { createHash } from 'node:crypto';
import { type BATCH_OPERATIONS, batchFields, presentBatch, presentBatchLine } from '@vat/contracts';
import type { ResultsHead, WantedLines } from '@vat/db';
import {
  AppError,
  type Batch,
  type BatchForecast,
  type BatchLine,
  type BatchUpload,
  type BatchUploadResult,
  type ForecastBatches,
  type PlannedFile,
  publicId,
  type ResultLine,
  type StoredAnswer,
  type StoredId,
} from '@vat/domain';
import type { z } from 'zod';
import type { HeldLease } from '../exports/send-zip.js';
import { found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { parseQuery, replyWithPage } from '../http/parse.js';
import { describeResults, type Results, streamResults } from '../results/stream-results.js';
import type { InTurn } from '../turns.js';
import type { FileToRead } from '../upload/read-batch.js';
import type { ReadUpload } from '../upload/read-upload.js';
import { fieldsOf } from '../upload/read-upload.js';
import type { Upload } from '../upload/upload.js';
import { type ResponseTo, type Routes, SENT, storedAnswer } from './route.js';

export type BatchRoutesDeps = {
  readUpload: ReadUpload;
  /** A few uploads of an account at a time: each is in memory as a whole while it is read. */
  uploadInTurn: InTurn;
  /** A few uploads of the whole process are parsed and stored at a time, accounts in turn. */
  storeInTurn: InTurn;
  /** Parses and plans a file outside the main thread. */
  readBatch: (file: FileToRead) => Promise<PlannedFile>;
  createBatch: (upload: BatchUpload) => Promise<BatchUploadResult>;
  listBatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Batch[]>;
  findBatch: (id: StoredId<'batch'>, accountId: string) => Promise<Batch | null>;
  forecastBatches: ForecastBatches;
  /** In the order of the file; `null` when there is no such batch. */
  listLines: (batchId: StoredId<'batch'>, accountId: string, wanted: WantedLines) => Promise<BatchLine[] | null>;
  findResultsHead: (id: StoredId<'batch'>, accountId: string) => Promise<ResultsHead | null>;
  readResults: (batchId: StoredId<'batch'>, afterId: string | null, limit: number) => Promise<ResultLine[]>;
  /** `null` when the account has the maximum number of downloads, over all processes. */
  holdDownload: (accountId: string) => Promise<HeldLease | null>;
  deleteBatch: (id: StoredId<'batch'>, accountId: string) => Promise<'deleted' | 'running' | 'not_found'>;
  now: () => Date;
  baseUrl: () => string;
};

/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;
/** Retry-After of TOO_MANY_DOWNLOADS, in seconds. */
const DOWNLOAD_RETRY_AFTER_S = 2;

/** The routes of /v1/batches. */
export const batchRoutes = (deps: BatchRoutesDeps): Pick<Routes, keyof typeof BATCH_OPERATIONS> => {
  const answerOf = (batch: Batch, forecast: BatchForecast): StoredAnswer =>
    storedAnswer<ResponseTo<'createBatch'>>({
      status: 201,
      body: presentBatch(batch, forecast),
      headers: { Location: `${deps.baseUrl()}/v1/batches/${publicId('batch', batch.id)}` },
    });

  return {
    createBatch: async ({ req, res, caller, idempotencyOf }) => {
      const gone = goneOf(res);
      const store = async (upload: Upload, fields: z.output<typeof batchFields>): Promise<BatchUploadResult> => {
        const { bytes, charset, fileName } = upload;
        const requester = fields.requester_vat_number;
        const file = await deps.readBatch({ bytes, charset, requester, createdAt: deps.now() });
        const content = { ...fields, charset, file: createHash('sha256').update(bytes).digest('hex') };
        return deps.createBatch({
          caller,
          label: fields.label ?? null,
          fileName,
          ...file,
          idempotency: idempotencyOf(content),
          answerOf,
        });
      };
      const receiveAndStore = async (): Promise<BatchUploadResult> => {
        const upload = await deps.readUpload(req, res, Object.keys(batchFields.shape));
        const fields = parseQuery(batchFields, fieldsOf(upload, req.query));
        return deps.storeInTurn(caller.accountId, () => store(upload, fields), gone);
      };
      const { kind, answer } = await deps.uploadInTurn(caller.accountId, receiveAndStore, gone);
      return { answer, replayed: kind === 'replay' };
    },

    listBatches: ({ caller: { accountId }, query }) => {
      const find = async (before: string | null, limit: number) => {
        const batches = await deps.listBatches(accountId, before, limit);
        const forecasts = await deps.forecastBatches(accountId, batches);
        return batches.map((batch) => ({ id: batch.id, batch, forecast: forecasts.get(batch.id) }));
      };
      return replyWithPage(query, ['batches', accountId], find, ({ batch, forecast }) => presentBatch(batch, forecast));
    },

    getBatch: async ({ id, caller }) => {
      const batch = found(await deps.findBatch(id, caller.accountId));
      const forecasts = await deps.forecastBatches(caller.accountId, [batch]);
      return { status: 200, body: presentBatch(batch, forecasts.get(batch.id)) };
    },

    deleteBatch: async ({ id, caller }) => {
      const outcome = await deps.deleteBatch(id, caller.accountId);
      if (outcome === 'not_found') throw new AppError('NOT_FOUND');
      if (outcome === 'running') throw new AppError('BATCH_RUNNING');
      return { status: 204 };
    },

    listBatchLines: ({ id, caller, query: { status, valid, ...page } }) => {
      const find = async (afterId: string | null, limit: number) =>
        found(await deps.listLines(id, caller.accountId, { status, valid, afterId, limit }));
      return replyWithPage(page, ['lines', id, status, valid], find, presentBatchLine);
    },

    getBatchResults: async ({ req, res, id, caller: { accountId }, query: form }) => {
      const head = found(await deps.findResultsHead(id, accountId));
      const file = { batchId: id, head, form };
      if (req.method === 'HEAD') {
        describeResults(res, file);
        res.end();
        return SENT;
      }
      const lease = await deps.holdDownload(accountId);
      if (!lease) throw new AppError('TOO_MANY_DOWNLOADS', { extra: { retry_after: DOWNLOAD_RETRY_AFTER_S } });
      try {
        const read: Results['read'] = (after, limit) => deps.readResults(id, after, limit);
        const { lost: signal, release: beforeEnd } = lease;
        await streamResults(res, { ...file, read, stalledMs: STALLED_MS, signal, beforeEnd });
        return SENT;
      } finally {
        await lease.release();
      }
    },
  };
};
