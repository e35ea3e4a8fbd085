import { type COVERAGE_OPERATIONS, coverageFields, presentCoverage, presentCoverageLine } from '@vat/contracts';
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
import { found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { replyWithPage } from '../http/parse.js';
import { createdAnswer, type Routes, SENT } from '../http/route.js';
import { type ResultsSource, resultsRoutes } from '../results/send-file.js';
import { dispositionOf } from '../results/stream-results.js';
import type { InTurn } from '../turns.js';
import type { PlannedCoverage } from '../upload/create-batch-reader.js';
import type { CoverageToRead } from '../upload/read-batch.js';
import { receiveUpload, type UploadRoutesDeps } from '../upload/receive-upload.js';
import { coverageLines, coverageResultOf, type ListCoverageLines } from './coverage-files.js';

type CoverageId = StoredId<'coverage'>;

export type CoverageRoutesDeps = UploadRoutesDeps & {
  /** Parses and plans a file outside the main thread. */
  readCoverage: (file: CoverageToRead) => Promise<PlannedCoverage>;
  createCoverage: (upload: CoverageUpload) => Promise<CoverageUploadResult>;
  listCoverages: (accountId: string, beforeId: string | null, limit: number) => Promise<Coverage[]>;
  findCoverage: (id: CoverageId, accountId: string) => Promise<Coverage | null>;
  /** In the order of the file; `null` when there is no such coverage. */
  listCoverageLines: ListCoverageLines;
  coverageResults: ResultsSource<'coverage', CoverageResultLine>;
  deleteCoverage: (id: CoverageId, accountId: string) => Promise<boolean>;
  /** Drawing occupies the process, so the documents of one account are drawn one after the other. */
  certificateInTurn: InTurn;
};

/** The routes of /v1/coverage. */
export const coverageRoutes = (deps: CoverageRoutesDeps): Pick<Routes, keyof typeof COVERAGE_OPERATIONS> => {
  const answerOf = (coverage: Coverage): StoredAnswer =>
    createdAnswer<'createCoverage'>(
      presentCoverage(coverage),
      `${deps.baseUrl()}/v1/coverage/${publicId('coverage', coverage.id)}`,
    );

  const source = { ...deps.coverageResults, sendFile: deps.sendFile };
  const results = resultsRoutes('coverage', { columns: COVERAGE_COLUMNS, resultOf: coverageResultOf, ...source });

  return {
    createCoverage: (call) =>
      receiveUpload(
        deps,
        call,
        coverageFields,
        async ({ bytes, charset, fileName }, fields, { caller, idempotency }) => {
          const createdAt = deps.now();
          const { sheet, queue_gaps: withGaps } = fields;
          const file = await deps.readCoverage({ bytes, charset, sheet, withGaps, createdAt });
          return deps.createCoverage({
            ...file,
            caller,
            label: fields.label ?? null,
            fileName,
            maxAgeDays: fields.max_age_days,
            minGrade: fields.min_grade,
            createdAt,
            idempotency,
            answerOf,
          });
        },
      ),

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

    getCoverageResults: results.csv,

    getCoverageWorkbook: results.xlsx,

    getCoverageReport: async ({ req, res, id, caller: { accountId }, query: { lang } }) => {
      const coverage = found(await deps.findCoverage(id, accountId));
      const headers = {
        'Content-Disposition': dispositionOf(publicId('coverage', id), coverage.fileName, {
          suffix: '-coverage.pdf',
          type: 'inline',
        }),
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
