import { createHash } from 'node:crypto';
import { type COVERAGE_OPERATIONS, coverageFields, presentCoverage, presentCoverageLine } from '@vat/contracts';
import type { ResultsHead } from '@vat/db';
import {
  AppError,
  type Coverage,
  type CoverageResultLine,
  type CoverageUpload,
  type CoverageUploadResult,
  publicId,
  type StoredAnswer,
  type StoredId,
} from '@vat/domain';
import { coverageReportPdf } from '@vat/evidence';
import { COVERAGE_COLUMNS } from '@vat/spreadsheet';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { parseQuery, replyWithPage } from '../http/parse.js';
import type { SendFile } from '../results/send-file.js';
import { describeResults, dispositionOf, type ResultsForm, streamResults } from '../results/stream-results.js';
import { type ResponseTo, type Routes, SENT, storedAnswer } from '../routes/route.js';
import type { InTurn } from '../turns.js';
import type { PlannedCoverage } from '../upload/create-batch-reader.js';
import type { CoverageToRead } from '../upload/read-batch.js';
import type { ReadUpload } from '../upload/read-upload.js';
import { fieldsOf } from '../upload/read-upload.js';
import type { Upload } from '../upload/upload.js';
import { coverageLines, coverageResultOf, type ListCoverageLines } from './coverage-files.js';

type CoverageId = StoredId<'coverage'>;

export type CoverageRoutesDeps = {
  readUpload: ReadUpload;
  /** As for batches. */
  uploadInTurn: InTurn;
  storeInTurn: InTurn;
  /** Parses and plans a file outside the main thread. */
  readCoverage: (file: CoverageToRead) => Promise<PlannedCoverage>;
  createCoverage: (upload: CoverageUpload) => Promise<CoverageUploadResult>;
  listCoverages: (accountId: string, beforeId: string | null, limit: number) => Promise<Coverage[]>;
  findCoverage: (id: CoverageId, accountId: string) => Promise<Coverage | null>;
  /** In the order of the file; `null` when there is no such coverage. */
  listCoverageLines: ListCoverageLines;
  findCoverageHead: (id: CoverageId, accountId: string) => Promise<ResultsHead | null>;
  readCoverageResults: (id: CoverageId, afterId: string | null, limit: number) => Promise<CoverageResultLine[]>;
  deleteCoverage: (id: CoverageId, accountId: string) => Promise<boolean>;
  sendFile: SendFile;
  /** Drawing occupies the process, so the documents of one account are drawn one after the other. */
  certificateInTurn: InTurn;
  now: () => Date;
  baseUrl: () => string;
};

/** The routes of /v1/coverage. */
export const coverageRoutes = (deps: CoverageRoutesDeps): Pick<Routes, keyof typeof COVERAGE_OPERATIONS> => {
  const answerOf = (coverage: Coverage): StoredAnswer =>
    storedAnswer<ResponseTo<'createCoverage'>>({
      status: 201,
      body: presentCoverage(coverage),
      headers: { Location: `${deps.baseUrl()}/v1/coverage/${publicId('coverage', coverage.id)}` },
    });

  const sendResults = async (
    {
      req,
      res,
      id,
      caller: { accountId },
    }: { req: Request; res: Response; id: CoverageId; caller: { accountId: string } },
    form: ResultsForm,
  ): Promise<typeof SENT> => {
    const head = found(await deps.findCoverageHead(id, accountId));
    const file = { id: publicId('coverage', id), head, form };
    if (req.method === 'HEAD') {
      describeResults(res, file);
      res.end();
      return SENT;
    }
    const read = (after: string | null, limit: number) => deps.readCoverageResults(id, after, limit);
    return deps.sendFile(accountId, (held) =>
      streamResults(res, { ...file, ...held, columns: COVERAGE_COLUMNS, resultOf: coverageResultOf, read }),
    );
  };

  return {
    createCoverage: async ({ req, res, caller, idempotencyOf }) => {
      const gone = goneOf(res);
      const store = async (
        { bytes, charset, fileName }: Upload,
        fields: z.output<typeof coverageFields>,
      ): Promise<CoverageUploadResult> => {
        const createdAt = deps.now();
        const { sheet, queue_gaps: withGaps } = fields;
        const file = await deps.readCoverage({ bytes, charset, sheet, withGaps, createdAt });
        const content = { ...fields, charset, file: createHash('sha256').update(bytes).digest('hex') };
        return deps.createCoverage({
          ...file,
          caller,
          label: fields.label ?? null,
          fileName,
          maxAgeDays: fields.max_age_days,
          minGrade: fields.min_grade,
          createdAt,
          idempotency: idempotencyOf(content),
          answerOf,
        });
      };
      const receiveAndStore = async (): Promise<CoverageUploadResult> => {
        const upload = await deps.readUpload(req, res, Object.keys(coverageFields.shape));
        const fields = parseQuery(coverageFields, fieldsOf(upload, req.query));
        return deps.storeInTurn(caller.accountId, () => store(upload, fields), gone);
      };
      const { kind, answer } = await deps.uploadInTurn(caller.accountId, receiveAndStore, gone);
      return { answer, replayed: kind === 'replay' };
    },

    listCoverages: ({ caller: { accountId }, query }) => {
      const find = (before: string | null, limit: number) => deps.listCoverages(accountId, before, limit);
      return replyWithPage(query, ['coverage', accountId], find, presentCoverage);
    },

    getCoverage: async ({ id, caller }) => {
      const coverage = found(await deps.findCoverage(id, caller.accountId));
      return { status: 200, body: presentCoverage(coverage) };
    },

    deleteCoverage: async ({ id, caller }) => {
      if (!(await deps.deleteCoverage(id, caller.accountId))) throw new AppError('NOT_FOUND');
      return { status: 204 };
    },

    listCoverageLines: ({ id, caller, query: { status, ...page } }) => {
      const find = async (afterId: string | null, limit: number) =>
        found(await deps.listCoverageLines(id, caller.accountId, { status, afterId, limit }));
      return replyWithPage(page, ['coverage lines', id, status], find, presentCoverageLine);
    },

    getCoverageResults: (call) => sendResults(call, { format: 'csv', ...call.query }),

    getCoverageWorkbook: (call) => sendResults(call, { format: 'xlsx' }),

    getCoverageReport: async ({ req, res, id, caller: { accountId }, query: { lang } }) => {
      const coverage = found(await deps.findCoverage(id, accountId));
      const headers = {
        'Content-Disposition': dispositionOf(publicId('coverage', id), coverage.fileName, {
          suffix: '-coverage.pdf',
          type: 'inline',
        }),
        'Cache-Control': 'no-store',
      };
      if (req.method === 'HEAD') {
        res.set(headers).type('application/pdf').end();
        return SENT;
      }
      const lines = coverageLines(deps.listCoverageLines, id, accountId);
      const draw = () =>
        coverageReportPdf({ coverage, lines, language: lang, issuedAt: deps.now(), serviceUrl: deps.baseUrl() });
      return { status: 200, bytes: await deps.certificateInTurn(accountId, draw, goneOf(res)), headers };
    },
  };
};
