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
  type CheckBody,
  type ForecastBatches,
  type PlannedFile,
  publicId,
  type ResultLine,
  type StoredAnswer,
  type StoredId,
} from '@vat/domain';
import { type LineResult, RESULT_COLUMNS } from '@vat/spreadsheet';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { parseQuery, replyWithPage } from '../http/parse.js';
import type { SendFile } from '../results/send-file.js';
import { describeResults, type ResultsForm, streamResults } from '../results/stream-results.js';
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
  sendFile: SendFile;
  deleteBatch: (id: StoredId<'batch'>, accountId: string) => Promise<'deleted' | 'running' | 'not_found'>;
  now: () => Date;
  baseUrl: () => string;
};

/** The result columns of a line. They come from the recorded bytes of the check, not from the copy in the line. */
const resultOfLine = ({ vatNumber, error, check }: ResultLine): LineResult => {
  const body = check && (JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody);
  return {
    vat_number: vatNumber,
    valid: body?.valid ?? null,
    verdict: body?.verdict ?? null,
    name: body?.name ?? null,
    address: body?.address ?? null,
    consultation_number: body?.consultation_number ?? null,
    check_id: check && publicId('check', check.id),
    error: error?.code ?? null,
  };
};

/** The routes of /v1/batches. */
export const batchRoutes = (deps: BatchRoutesDeps): Pick<Routes, keyof typeof BATCH_OPERATIONS> => {
  const answerOf = (batch: Batch, forecast: BatchForecast): StoredAnswer =>
    storedAnswer<ResponseTo<'createBatch'>>({
      status: 201,
      body: presentBatch(batch, forecast),
      headers: { Location: `${deps.baseUrl()}/v1/batches/${publicId('batch', batch.id)}` },
    });

  const sendResults = async (
    {
      req,
      res,
      id,
      caller: { accountId },
    }: { req: Request; res: Response; id: StoredId<'batch'>; caller: { accountId: string } },
    form: ResultsForm,
  ): Promise<typeof SENT> => {
    const head = found(await deps.findResultsHead(id, accountId));
    const file = { id: publicId('batch', id), head, form };
    if (req.method === 'HEAD') {
      describeResults(res, file);
      res.end();
      return SENT;
    }
    const read = (after: string | null, limit: number) => deps.readResults(id, after, limit);
    return deps.sendFile(accountId, (held) =>
      streamResults(res, { ...file, ...held, columns: RESULT_COLUMNS, resultOf: resultOfLine, read }),
    );
  };

  return {
    createBatch: async ({ req, res, caller, idempotencyOf }) => {
      const gone = goneOf(res);
      const store = async (upload: Upload, fields: z.output<typeof batchFields>): Promise<BatchUploadResult> => {
        const { bytes, charset, fileName } = upload;
        const requester = fields.requester_vat_number;
        const file = await deps.readBatch({ bytes, charset, sheet: fields.sheet, requester, createdAt: deps.now() });
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

    getBatchResults: (call) => sendResults(call, { format: 'csv', ...call.query }),

    getBatchWorkbook: (call) => sendResults(call, { format: 'xlsx' }),
  };
};
