import { type BATCH_OPERATIONS, batchFields, presentBatch, presentBatchLine } from '@vat/contracts';
import type { WantedLines } from '@vat/db';
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
import { found } from '../http/call.js';
import { replyWithPage } from '../http/parse.js';
import { createdAnswer, type Routes } from '../http/route.js';
import { type ResultsSource, resultsRoutes } from '../results/send-file.js';
import type { FileToRead } from '../upload/read-batch.js';
import { receiveUpload, type UploadRoutesDeps } from '../upload/receive-upload.js';

export type BatchRoutesDeps = UploadRoutesDeps & {
  /** Parses and plans a file outside the main thread. */
  readBatch: (file: FileToRead) => Promise<PlannedFile>;
  createBatch: (upload: BatchUpload) => Promise<BatchUploadResult>;
  listBatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Batch[]>;
  findBatch: (id: StoredId<'batch'>, accountId: string) => Promise<Batch | null>;
  forecastBatches: ForecastBatches;
  /** In the order of the file; `null` when there is no such batch. */
  listLines: (batchId: StoredId<'batch'>, accountId: string, wanted: WantedLines) => Promise<BatchLine[] | null>;
  batchResults: ResultsSource<'batch', ResultLine>;
  deleteBatch: (id: StoredId<'batch'>, accountId: string) => Promise<'deleted' | 'running' | 'not_found'>;
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
    createdAnswer<'createBatch'>(
      presentBatch(batch, forecast),
      `${deps.baseUrl()}/v1/batches/${publicId('batch', batch.id)}`,
    );

  const { batchResults, sendFile } = deps;
  const results = resultsRoutes('batch', {
    columns: RESULT_COLUMNS,
    resultOf: resultOfLine,
    ...batchResults,
    sendFile,
  });

  return {
    createBatch: (call) =>
      receiveUpload(deps, call, batchFields, async ({ bytes, charset, fileName }, fields, { caller, idempotency }) => {
        const requester = fields.requester_vat_number;
        const file = await deps.readBatch({ bytes, charset, sheet: fields.sheet, requester, createdAt: deps.now() });
        return deps.createBatch({
          caller,
          label: fields.label ?? null,
          fileName,
          ...file,
          idempotency,
          answerOf,
        });
      }),

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
      // Without `valid` as it was before there was such a filter, so that its cursors lead on after an upgrade.
      const list = ['lines', id, status, ...(valid === undefined ? [] : [valid])] as const;
      return replyWithPage(page, list, find, presentBatchLine);
    },

    getBatchResults: results.csv,

    getBatchWorkbook: results.xlsx,
  };
};
