import { checkAnchors, checkProofs } from './check-anchors.js';
import { checkCoverage } from './check-coverage.js';
import { checkExpired } from './check-expired.js';
import { CHECKS_COLUMNS, type CheckRows, checkChecks, checkExchanges, checkSums } from './check-records.js';
import { checkStamps } from './check-stamps.js';
import { checkTimes, noteProvedTimes } from './check-times.js';
import { counted, type DossierReport, NotChecked, openReport, type ReportBuilder } from './dossier-report.js';
import {
  cellIn,
  type Json,
  MissingFile,
  objectIn,
  parseObject,
  type Row,
  readTable,
  readText,
  secondsOf,
} from './read-content.js';
import { DossierFiles, readDossierZip, SUMS } from './read-dossier-zip.js';

/** How far a verification is: a step, and its part that is done. */
export type DossierProgress = { step: 'files' | 'records' | 'time-stamps'; done: number; total: number };

type Options = { onProgress?: (progress: DossierProgress) => void };

const VERDICTS = ['valid', 'invalid', 'malformed'];

const hasStamp = (row: Row | undefined): boolean => row !== undefined && cellIn(row, 'timestamp') === 'yes';

const checkCounts = (stated: Json, counted: Readonly<Record<string, number>>, report: ReportBuilder): void => {
  report.count(counted);
  for (const [name, found] of Object.entries(counted))
    if (stated[name] !== found)
      report.problem('count_differs', { file: 'manifest.json', stated: stated[name], name, found });
};

/** The VAT number of each check, for the sentences of problems. An unreadable table is reported when its rows are compared. */
const nameNumbers = (files: DossierFiles, { numbers }: ReportBuilder): void => {
  try {
    const table = readTable(files, 'checks.csv', CHECKS_COLUMNS);
    for (const row of table) numbers.set(cellIn(row, 'id') ?? '', cellIn(row, 'vat_number') ?? '');
  } catch {
    numbers.clear();
  }
};

const checkDossier = async (
  files: DossierFiles,
  report: ReportBuilder,
  { onProgress }: Options,
): Promise<DevelopmentStamps> => {
  nameNumbers(files, report);
  checkSums(files, report);
  const manifest = parseObject(readText(files, 'manifest.json'));
  const [counts, createdAt] = [objectIn(manifest, 'counts'), secondsOf(manifest.created_at)];
  if (manifest.format !== 'vat-evidence-dossier' || manifest.version !== 1)
    report.problem('format_unknown', { file: 'manifest.json' });
  const table = readTable(files, 'checks.csv', CHECKS_COLUMNS);
  const rows: CheckRows = new Map(table.map((row) => [cellIn(row, 'id') ?? '', row]));
  if (rows.size !== table.length) report.problem('check_repeated', { file: 'checks.csv' });
  onProgress?.({ step: 'records', done: 0, total: 1 });
  const checks = checkChecks(files, rows, report);
  const { exchanges, requests } = checkExchanges(files, checks, report);
  const { anchors, links } = checkAnchors(files, report);
  const proved = checkProofs(files, { checks, anchors, rows }, report);
  const stamped = new Set([...files.keys()].flatMap((path) => path.match(/^timestamps\/([^/]+)\.tsr$/)?.[1] ?? []));
  for (const id of new Set([...rows.keys(), ...stamped]))
    if (hasStamp(rows.get(id)) !== stamped.has(id)) report.problem('stamp_listed', { check_id: id });
  report.count({ supplies: checkCoverage(files, checks, report) });
  const verdicts = VERDICTS.map((verdict) => [verdict, table.filter((row) => row.verdict === verdict).length] as const);
  checkCounts(
    counts,
    {
      ...{ checks: checks.size, exchanges, requests, anchors: anchors.size, proofs: proved.size },
      ...{ timestamps: stamped.size, watch_changes: readTable(files, 'watch-changes.csv').length },
      ...Object.fromEntries(verdicts),
    },
    report,
  );
  if (readTable(files, 'requests.csv').length !== requests) report.problem('requests_differ', { file: 'requests.csv' });
  const onStamp = (done: number, total: number) => onProgress?.({ step: 'time-stamps', done, total });
  const verified = await checkStamps(files, report, onStamp);
  const stamps = checkExpired({ stamps: verified, links, proved, now: Date.now() }, report);
  const timed = { checks, anchors, proved, createdAt, stamps };
  checkTimes(timed, report);
  noteProvedTimes(timed, report);
  const development = [...stamps.values()].filter((stamp) => stamp.development).length;
  report.count({ stamps: stamps.size, development_stamps: development });
  return { development, total: stamps.size, ofSeal: stamps.get(SUMS)?.development === true };
};

/** How many time-stamps are of a development authority, and whether that of the whole dossier is. */
type DevelopmentStamps = { development: number; total: number; ofSeal: boolean };

const developmentNote = ({ development, total, ofSeal }: DevelopmentStamps): string =>
  `${development} of ${counted(total, 'time-stamp comes', 'time-stamps come')} from a development authority: they match the files, but they are worth nothing as evidence of time, because no independent party holds its key. The time-stamp of the whole dossier is ${ofSeal ? '' : 'not '}one of them.`;

const WHO_MADE_IT =
  'The files match their time-stamps and each other; who made them is not proved by that. README.txt in the dossier explains how to compare them with what the service gave to others.';

/**
 * Verifies a zipped dossier in a browser or in Node, without a network: the same checks as `verify.py`, with another
 * implementation of each. Never throws for what is in the file. Runs for seconds, so browsers call it in a worker.
 */
export const verifyDossier = async (zip: Blob, options: Options = {}): Promise<DossierReport> => {
  const report = openReport();
  const onRead = (done: number, total: number) => options.onProgress?.({ step: 'files', done, total });
  let files = new DossierFiles();
  let stamped: DevelopmentStamps = { development: 0, total: 0, ofSeal: false };
  try {
    if (!globalThis.crypto?.subtle)
      throw new NotChecked(
        'insecure_page',
        'This browser verifies time-stamps only on pages that were opened over https. Open this page over https, or verify the dossier with verify.py.',
      );
    files = await readDossierZip(zip, report, onRead);
    stamped = await checkDossier(files, report, options);
  } catch (error) {
    if (error instanceof NotChecked)
      return report.finish({ reason: { code: error.code, message: error.message }, development: 0 });
    if (error instanceof MissingFile) report.problem('rest_missing', { file: error.path });
    // Untrusted bytes can cause any error (values nested too deeply, numbers too large). All are one problem.
    else report.problem('unreadable', { file: files.lastRead, reason: (error as Error).message });
  }
  const { development } = stamped;
  const end = report.finish({ reason: null, development });
  if (end.problem_count > 0) return end;
  report.note(WHO_MADE_IT);
  if (development > 0) report.note(developmentNote(stamped));
  return report.finish({ reason: null, development });
};
