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
  publicId,
  type ResultLine,
  type StoredAnswer,
} from '@vat/domain';
import { readBatchFile } from '@vat/spreadsheet';
import type { RequestHandler } from 'express';
import type { InTurn } from '../few-at-a-time.js';
import { callerOf, idempotencyKeyOf } from '../http/context.js';
import { fingerprintOf } from '../http/fingerprint-of.js';
import { jsonAnswer } from '../http/json-answer.js';
import { ownedId } from '../http/owned-id.js';
import { parseQuery } from '../http/parse-query.js';
import { readPage } from '../http/read-page.js';
import { sendAnswer } from '../http/send-answer.js';
import { type Results, streamResults } from '../results/stream-results.js';
import { fieldsOf } from '../upload/fields-of.js';
import { markCharset } from '../upload/mark-charset.js';
import type { ReadUpload } from '../upload/read-upload.js';

export type BatchRoutesDeps = {
  readUpload: ReadUpload;
  /** Few uploads of an account at a time: each is held in memory whole while it is read. */
  inTurn: InTurn;
  createBatch: (upload: BatchUpload) => Promise<BatchUploadResult>;
  listBatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Batch[]>;
  findBatch: (id: string, accountId: string) => Promise<Batch | null>;
  /** In the order of the file; `null` when there is no such batch. */
  listLines: (batchId: string, accountId: string, wanted: WantedLines) => Promise<BatchLine[] | null>;
  findResultsHead: (id: string, accountId: string) => Promise<ResultsHead | null>;
  readResults: (batchId: string, afterId: string | null, limit: number) => Promise<ResultLine[]>;
  deleteBatch: (id: string, accountId: string) => Promise<'deleted' | 'running' | 'not_found'>;
  baseUrl: () => string;
};

/** A download that is not taken for so long has been given up. */
const STALLED_MS = 60_000;

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
    const result = await deps.inTurn(caller.accountId, async () => {
      const upload = await deps.readUpload(req, res, Object.keys(batchFields.shape));
      const fields = parseQuery(batchFields, fieldsOf(upload, req.query));
      const file = readBatchFile(markCharset(upload));
      const sent = {
        ...fields,
        charset: upload.charset,
        file: createHash('sha256').update(upload.bytes).digest('hex'),
      };
      return deps.createBatch({
        caller,
        label: fields.label ?? null,
        fileName: upload.fileName,
        requester: fields.requester_vat_number,
        header: file.header,
        rows: file.rows,
        idempotency: key === null ? null : { key, fingerprint: fingerprintOf(req, sent) },
        answerOf,
      });
    });
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
    const head = await deps.findResultsHead(id, callerOf(res).accountId);
    if (!head) throw new AppError('NOT_FOUND');
    const read: Results['read'] = (after, limit) => deps.readResults(id, after, limit);
    await streamResults(res, { batchId: id, head, form, read, stalledMs: STALLED_MS });
  };

  const remove: RequestHandler = async (req, res) => {
    const outcome = await deps.deleteBatch(ownedId('batch', req.params.id), callerOf(res).accountId);
    if (outcome === 'not_found') throw new AppError('NOT_FOUND');
    if (outcome === 'running') throw new AppError('BATCH_RUNNING');
    res.status(204).end();
  };

  return { create, list, show, listLines, results, remove };
};
