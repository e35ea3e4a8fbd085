import { createHash } from 'node:crypto';
import {
  batchFields,
  lineListQuery,
  pageListQuery,
  presentBatch,
  presentBatchLine,
  resultsQuery,
} from '@vat/contracts';
import type { ResultsHead, WantedLines } from '@vat/db';
import {
  AppError,
  type Batch,
  type BatchLine,
  type BatchUpload,
  type BatchUploadResult,
  type PlannedFile,
  publicId,
  type ResultLine,
  type StoredAnswer,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import type { z } from 'zod';
import type { HeldLease } from '../exports/send-zip.js';
import { jsonAnswer, sendAnswer } from '../http/answer.js';
import { callerOf, fingerprintOf, idempotencyKeyOf, ownedId } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { parseQuery, readPage } from '../http/parse.js';
import { describeResults, type Results, streamResults } from '../results/stream-results.js';
import type { InTurn } from '../turns.js';
import type { FileToRead } from '../upload/read-batch.js';
import type { ReadUpload } from '../upload/read-upload.js';
import { fieldsOf } from '../upload/read-upload.js';
import type { Upload } from '../upload/upload.js';

export type BatchRoutesDeps = {
  readUpload: ReadUpload;
  /** Few uploads of an account at a time: each is held in memory whole while it is read. */
  uploadInTurn: InTurn;
  /** Few uploads in the whole process are parsed and stored at a time, accounts in turn. */
  storeInTurn: InTurn;
  /** Parses and plans a file outside the thread that serves callers. */
  readBatch: (file: FileToRead) => Promise<PlannedFile>;
  createBatch: (upload: BatchUpload) => Promise<BatchUploadResult>;
  listBatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Batch[]>;
  findBatch: (id: string, accountId: string) => Promise<Batch | null>;
  /** In the order of the file; `null` when there is no such batch. */
  listLines: (batchId: string, accountId: string, wanted: WantedLines) => Promise<BatchLine[] | null>;
  findResultsHead: (id: string, accountId: string) => Promise<ResultsHead | null>;
  readResults: (batchId: string, afterId: string | null, limit: number) => Promise<ResultLine[]>;
  /** `null` when the account has as many downloads as it may, in whatever processes. */
  holdDownload: (accountId: string) => Promise<HeldLease | null>;
  deleteBatch: (id: string, accountId: string) => Promise<'deleted' | 'running' | 'not_found'>;
  now: () => Date;
  baseUrl: () => string;
};

/** A download that is not taken for so long has been given up. */
const STALLED_MS = 60_000;
/** What a caller with too many downloads should wait, in seconds. */
const DOWNLOAD_RETRY_AFTER_S = 2;

/** The routes of /v1/batches. */
export const batchRoutes = (deps: BatchRoutesDeps) => {
  const answerOf = (batch: Batch): StoredAnswer =>
    jsonAnswer(201, presentBatch(batch), {
      Location: `${deps.baseUrl()}/v1/batches/${publicId('batch', batch.id)}`,
    });

  const create: RequestHandler = async (req, res) => {
    const caller = callerOf(res);
    const key = idempotencyKeyOf(req, caller);
    // What is wrong already need not be uploaded first.
    parseQuery(batchFields, req.query);
    const gone = goneOf(res);
    const store = async (upload: Upload, fields: z.infer<typeof batchFields>): Promise<BatchUploadResult> => {
      const file = await deps.readBatch({
        bytes: upload.bytes,
        charset: upload.charset,
        requester: fields.requester_vat_number,
        createdAt: deps.now(),
      });
      const sent = {
        ...fields,
        charset: upload.charset,
        file: createHash('sha256').update(upload.bytes).digest('hex'),
      };
      return deps.createBatch({
        caller,
        label: fields.label ?? null,
        fileName: upload.fileName,
        ...file,
        idempotency: key === null ? null : { key, fingerprint: fingerprintOf(req, sent) },
        answerOf,
      });
    };
    const receiveAndStore = async (): Promise<BatchUploadResult> => {
      const upload = await deps.readUpload(req, res, Object.keys(batchFields.shape));
      const fields = parseQuery(batchFields, fieldsOf(upload, req.query));
      return deps.storeInTurn(caller.accountId, () => store(upload, fields), gone);
    };
    const result = await deps.uploadInTurn(caller.accountId, receiveAndStore, gone);
    sendAnswer(res, result.answer, result.kind === 'replay');
  };

  const list: RequestHandler = async (req, res) => {
    const { accountId } = callerOf(res);
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['batches', accountId], (before, most) =>
      deps.listBatches(accountId, before, most),
    );
    res.json({ data: rows.map(presentBatch), next_cursor: nextCursor });
  };

  const show: RequestHandler = async (req, res) => {
    const batch = await deps.findBatch(ownedId('batch', req.params.id), callerOf(res).accountId);
    if (!batch) throw new AppError('NOT_FOUND');
    res.json(presentBatch(batch));
  };

  const listLines: RequestHandler = async (req, res) => {
    const { status, ...asked } = parseQuery(lineListQuery, req.query);
    const id = ownedId('batch', req.params.id);
    const { rows, nextCursor } = await readPage(asked, ['lines', id, status], async (afterId, limit) => {
      const found = await deps.listLines(id, callerOf(res).accountId, { status, afterId, limit });
      if (!found) throw new AppError('NOT_FOUND');
      return found;
    });
    res.json({ data: rows.map(presentBatchLine), next_cursor: nextCursor });
  };

  const results: RequestHandler = async (req, res) => {
    const form = parseQuery(resultsQuery, req.query);
    const id = ownedId('batch', req.params.id);
    const { accountId } = callerOf(res);
    const head = await deps.findResultsHead(id, accountId);
    if (!head) throw new AppError('NOT_FOUND');
    const file = { batchId: id, head, form };
    if (req.method === 'HEAD') {
      describeResults(res, file);
      return void res.end();
    }
    const lease = await deps.holdDownload(accountId);
    if (!lease) throw new AppError('TOO_MANY_DOWNLOADS', { extra: { retry_after: DOWNLOAD_RETRY_AFTER_S } });
    try {
      const read: Results['read'] = (after, limit) => deps.readResults(id, after, limit);
      const { lost: signal, release: beforeEnd } = lease;
      await streamResults(res, { ...file, read, stalledMs: STALLED_MS, signal, beforeEnd });
    } finally {
      await lease.release();
    }
  };

  const remove: RequestHandler = async (req, res) => {
    const outcome = await deps.deleteBatch(ownedId('batch', req.params.id), callerOf(res).accountId);
    if (outcome === 'not_found') throw new AppError('NOT_FOUND');
    if (outcome === 'running') throw new AppError('BATCH_RUNNING');
    res.status(204).end();
  };

  return { create, list, show, listLines, results, remove };
};
