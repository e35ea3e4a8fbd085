import type { ResultsHead, WantedCoverageLines } from '@vat/db';
import { AppError, type Coverage, type CoverageLine, type CoverageResultLine, publicId, readPages } from '@vat/domain';
import { coverageReportPdf, type DossierFile } from '@vat/evidence';
import { COVERAGE_COLUMNS, type CsvCell, resultsFile } from '@vat/spreadsheet';

const DAY_MS = 86_400_000;

/** Whole days in UTC from the day of a check to the supply. */
const ageOf = (supplyDate: string, checkedAt: Date): number =>
  Math.round((Date.parse(supplyDate) - Date.parse(checkedAt.toISOString().slice(0, 10))) / DAY_MS);

/** The result columns of a line of a coverage. */
export const coverageResultOf = ({
  status,
  vatNumber,
  supplyDate,
  check,
  error,
}: CoverageResultLine): Record<(typeof COVERAGE_COLUMNS)[number], CsvCell> => ({
  coverage: status,
  vat_number_read: vatNumber,
  supply_date_read: supplyDate,
  check_id: check && publicId('check', check.id),
  checked_at: check?.checkedAt.toISOString() ?? null,
  age_days: check && ageOf(supplyDate, check.checkedAt),
  evidence_grade: check?.grade ?? null,
  error: error?.code ?? null,
});

const PAGE_LINES = 500;

/** All lines, page by page. `read`: a page after an id. */
async function* everyLine<Line extends { id: string }>(
  read: (afterId: string | null, limit: number) => Promise<Line[]>,
): AsyncGenerator<Line> {
  const pages = readPages(async (after: string | null) => {
    const lines = await read(after, PAGE_LINES);
    return { lines, next: lines.length < PAGE_LINES ? null : (lines.at(-1)?.id ?? null) };
  });
  for await (const { lines } of pages) yield* lines;
}

export type ListCoverageLines = (
  id: string,
  accountId: string,
  wanted: WantedCoverageLines,
) => Promise<CoverageLine[] | null>;

/** All lines of a coverage. Throws NOT_FOUND when it is deleted meanwhile. */
export const coverageLines = (list: ListCoverageLines, id: string, accountId: string): AsyncGenerator<CoverageLine> =>
  everyLine(async (afterId, limit) => {
    const lines = await list(id, accountId, { status: undefined, afterId, limit });
    if (lines === null) throw new AppError('NOT_FOUND');
    return lines;
  });

type CoverageFilesDeps = {
  listLines: ListCoverageLines;
  findHead: (id: string, accountId: string) => Promise<ResultsHead | null>;
  readResults: (id: string, afterId: string | null, limit: number) => Promise<CoverageResultLine[]>;
  baseUrl: () => string;
};

/** The files of a coverage in its dossier: the report in English, and the results of every line. */
export const coverageFiles = ({ listLines, findHead, readResults, baseUrl }: CoverageFilesDeps) =>
  async function* (coverage: Coverage, accountId: string, createdAt: Date): AsyncGenerator<DossierFile> {
    const lines = coverageLines(listLines, coverage.id, accountId);
    const report = { coverage, lines, language: 'en', issuedAt: createdAt, serviceUrl: baseUrl() } as const;
    yield { path: 'coverage/report.pdf', bytes: await coverageReportPdf(report) };
    const head = await findHead(coverage.id, accountId);
    if (head === null) throw new AppError('NOT_FOUND');
    const file = resultsFile({ columns: COVERAGE_COLUMNS, header: head.header, width: head.width, bom: true });
    const rows = [file.header()];
    for await (const line of everyLine((afterId, limit) => readResults(coverage.id, afterId, limit)))
      rows.push(file.row(JSON.parse(line.cellsJson) as string[], coverageResultOf(line)));
    // It was deleted meanwhile, and the dossier would hold a part of it.
    if (rows.length !== head.total + 1) throw new AppError('NOT_FOUND');
    yield { path: 'coverage/results.csv', bytes: Buffer.from(rows.join(''), 'utf8') };
  };
