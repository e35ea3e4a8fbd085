import { COVERAGE_STATUSES, type Coverage, type CoverageLine, type DocumentLanguage, publicId } from '@vat/domain';
import { openPage } from '../certificate/open-page.js';
import { TERMS } from '../languages/terms.js';
import { grouped, REPORT_TEXTS, type ReportTexts } from './report-texts.js';

/** What the report shows. `lines`: all lines of the coverage in the order of the file, read once while the report is drawn. */
type CoverageReport = {
  coverage: Coverage;
  lines: AsyncIterable<CoverageLine>;
  language: DocumentLanguage;
  issuedAt: Date;
  serviceUrl: string;
};

const COMPLETE_COLOR = '#1b6e3c';
const INCOMPLETE_COLOR = '#8a4b00';

const utc = (at: Date): string =>
  at
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

const shareOf = (n: number, total: number, decimal: string): string =>
  // Rounded down, so that 100 % means all.
  total === 0 ? '' : `${(Math.floor((1_000 * n) / total) / 10).toFixed(1).replace('.', decimal)} %`;

const WIDTHS = [8, 22, 15, 16, 23, 24];

const gapCells = (line: CoverageLine, texts: ReportTexts): string[] => [
  String(line.line),
  line.vatNumber ?? (line.input === '' ? texts.noNumber : line.input),
  line.supplyDate,
  texts.statuses[line.status].word,
  line.check ? `${line.check.checkedAt.toISOString().slice(0, 10)}, ${line.check.grade}` : '–',
  line.reference ?? '',
];

async function* gapRows(lines: AsyncIterable<CoverageLine>, texts: ReportTexts): AsyncGenerator<string[]> {
  for await (const line of lines) if (line.status !== 'covered') yield gapCells(line, texts);
}

/**
 * The report of a coverage (PDF): a page with the rules and totals, then the uncovered supplies in the order of the file. Yields
 * to other work between rows, since a report may have two hundred pages.
 */
export const coverageReportPdf = async (report: CoverageReport): Promise<Uint8Array> => {
  const { coverage, lines, language, issuedAt, serviceUrl } = report;
  const texts = REPORT_TEXTS[language];
  const id = publicId('coverage', coverage.id);
  const page = await openPage({ title: texts.title, subject: id, at: issuedAt, language });
  const isComplete = coverage.covered === coverage.total;
  const [covered, total] = [grouped(coverage.covered), grouped(coverage.total)];
  page.title(texts.title, texts.made(utc(issuedAt), serviceUrl));
  page.band(
    isComplete ? COMPLETE_COLOR : INCOMPLETE_COLOR,
    `${covered} / ${total}`,
    isComplete ? texts.complete : texts.incomplete,
    texts.summary(coverage.covered, coverage.total),
  );
  page.row(texts.label, coverage.label, { height: 24, face: 'bold' });
  page.row(texts.file, coverage.fileName, { height: 24 });
  page.row(texts.coverage, id);
  page.row(texts.asOf, utc(coverage.createdAt));
  page.section(texts.rules);
  page.row(texts.maxAge, texts.days(coverage.maxAgeDays));
  const { explained, grades, decimal } = TERMS[language];
  page.row(texts.minGrade, explained(coverage.minGrade, grades[coverage.minGrade]));
  page.row(texts.day, texts.dayIsUtc);
  page.section(texts.totals);
  page.row(texts.total, total, { face: 'bold' });
  for (const status of COVERAGE_STATUSES) {
    const { word, meaning } = texts.statuses[status];
    const n = coverage[status];
    page.row(word, `${grouped(n)}   ${shareOf(n, coverage.total, decimal)}   ${meaning}`, {
      face: n > 0 ? 'bold' : 'plain',
    });
  }
  if (isComplete) page.paragraph(texts.noGaps);
  else
    await page.list(
      { title: texts.gaps, footer: texts.footer, widths: WIDTHS },
      [texts.line, texts.number, texts.supplyDate, texts.status, texts.lastCheck, texts.reference],
      gapRows(lines, texts),
    );
  return page.close(texts.footer);
};
