import { access, constants, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '../client.js';
import { BatchPendingError } from '../errors.js';
import type { Batch, BatchLine, Coverage, CoverageLine } from '../generated/api-types.js';
import type { OperationName, Upload } from '../operations.js';
import {
  type Arguments,
  bytesOf,
  type Command,
  type Context,
  choiceOf,
  durationOf,
  EXIT,
  numberOf,
  take,
  textOf,
  UsageError,
} from './command.js';

/** Of the lines that need attention, as many are shown. */
const SHOWN = 20;
const A_DAY_MS = 86_400_000;

/** Reads a file to upload. Throws {@link UsageError} when it cannot be read. */
const readUpload = async (file: string): Promise<Upload> => ({ bytes: await bytesOf(file), name: path.basename(file) });

/** The rows of a list that are not as they should be: the first ones, and how many there are in all. */
const showLines = async <Row>(
  rows: AsyncIterable<Row>,
  total: number,
  show: (row: Row) => string,
): Promise<string[]> => {
  const lines = (await take(rows, SHOWN)).map(show);
  return total > lines.length ? [...lines, `… and ${total - lines.length} more`] : lines;
};

type Results = Extract<OperationName, `get${'Batch' | 'Coverage'}${'Results' | 'Workbook' | 'Report'}`>;

/** The file of `--out`, and the operation whose results it gets. */
type Out = { file: string; operation: Results };

/**
 * Reads `--out` before anything is uploaded; null without it. Throws {@link UsageError} when the format is unknown or the file
 * cannot be written, which would otherwise be noticed after the wait for a batch.
 */
const readOut = async (args: Arguments, formats: Partial<Record<string, Results>>): Promise<Out | null> => {
  const file = textOf(args, 'out');
  if (file === undefined) return null;
  const operation = formats[path.extname(file).toLowerCase()];
  if (!operation)
    throw new UsageError(`--out ends with ${Object.keys(formats).join(' or ')}, not ${path.extname(file)}.`);
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory()) throw new UsageError(`${file} cannot be written: it is a folder.`);
  await access(found ? file : path.dirname(file), constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${file} cannot be written: ${error.code === 'ENOENT' ? 'there is no such folder' : error.message}.`,
    );
  });
  return { file, operation };
};

/** Downloads the results to the file of `--out`. */
const saveResults = async (vat: Client, id: string, out: Out | null, signal: AbortSignal): Promise<string[]> => {
  if (out === null) return [];
  const { body } = await vat.call(out.operation, { id }, { signal });
  await writeFile(out.file, body);
  return [`results written to ${out.file}`];
};

const UPLOAD_OPTIONS = {
  label: ['TEXT', 'your own name for the file'],
  sheet: ['NAME', 'the sheet of a workbook; the first one with data by default'],
} as const;
const uploadFields = (args: Arguments) => ({ label: textOf(args, 'label'), sheet: textOf(args, 'sheet') });

/** A file may be named `bat_2026.csv`. */
const BATCH_ID = /^bat_[0-9a-z]+$/;
const BATCH_FORMATS = { '.csv': 'getBatchResults', '.xlsx': 'getBatchWorkbook' } as const;

const showBatchLine = ({ line, input, status, verdict, error }: BatchLine): string =>
  `line ${line}  ${input}  ${error ? `${error.code}: ${error.message}` : (verdict ?? status)}`;

const showBatch = ({ batch_id: id, status, total, done, valid, invalid, failed, eta }: Batch): string[] => [
  `${id}  ${status}`,
  `${total} ${total === 1 ? 'line' : 'lines'}: ${valid} valid, ${invalid} not valid, ${failed} failed, ${total - done - failed} open`,
  ...(eta && status !== 'completed' ? [`expected at ${eta}`] : []),
];

/** The lines of a batch without a valid check. */
const badLines = async function* (vat: Client, id: string, signal: AbortSignal): AsyncGenerator<BatchLine> {
  yield* vat.list('listBatchLines', { id, query: { status: 'failed', limit: SHOWN } }, { signal });
  yield* vat.list('listBatchLines', { id, query: { valid: false, limit: SHOWN } }, { signal });
};

const waitForBatch = async (vat: Client, { batch_id: id }: Batch, waitMs: number, { note, signal }: Context) => {
  const onProgress = ({ total, done, failed }: Batch) => note(`${done + failed} of ${total} lines`);
  return vat.waitForBatch(id, { waitMs, signal, onProgress }).catch((error: unknown) => {
    // Ctrl-C ends the wait, not the batch.
    throw signal.aborted ? new BatchPendingError(id) : error;
  });
};

/** `vat batch` */
export const checkBatch: Command = {
  takes: ['FILE'],
  summary: 'Checks a file of VAT numbers (CSV or .xlsx), or shows an earlier batch (bat_…)',
  options: {
    wait: [null, 'wait until all lines have ended'],
    timeout: ['SECONDS', 'with --wait: how long; a day by default'],
    out: ['FILE', 'with --wait: write the results to this file, .csv or .xlsx'],
    requester: ['NUMBER', 'your own VAT number, for lines without one'],
    ...UPLOAD_OPTIONS,
  },
  run: async (args, context) => {
    const { client, print, json, signal } = context;
    const name = args.positionals[0] ?? '';
    for (const option of ['out', 'timeout'])
      if (textOf(args, option) !== undefined && !args.flags.wait) throw new UsageError(`--${option} needs --wait.`);
    const waitMs = durationOf(args, 'timeout') ?? A_DAY_MS;
    const out = await readOut(args, BATCH_FORMATS);
    const vat = client();
    const fields = { ...uploadFields(args), requester_vat_number: textOf(args, 'requester') };
    const { body: started } = BATCH_ID.test(name)
      ? await vat.call('getBatch', { id: name }, { signal })
      : await vat.call('createBatch', { file: await readUpload(name), query: fields }, { signal });
    const isAwaited = args.flags.wait && started.status !== 'completed';
    if (isAwaited) context.note(`${started.batch_id}  waiting`);
    const batch = isAwaited ? await waitForBatch(vat, started, waitMs, context) : started;
    const saved = await saveResults(vat, batch.batch_id, out, signal);
    if (json) print(JSON.stringify(batch));
    else {
      const bad = batch.failed + batch.invalid;
      const lines = bad > 0 ? await showLines(badLines(vat, batch.batch_id, signal), bad, showBatchLine) : [];
      print(...showBatch(batch), ...lines, ...saved);
    }
    if (batch.status !== 'completed') return EXIT.ok;
    return batch.valid === batch.total ? EXIT.ok : EXIT.negative;
  },
};

const COVERAGE_FORMATS = {
  '.csv': 'getCoverageResults',
  '.xlsx': 'getCoverageWorkbook',
  '.pdf': 'getCoverageReport',
} as const;
const GRADES = ['basic', 'named', 'corroborated', 'qualified'] as const;
const GAPS = ['missing', 'invalid', 'stale', 'weak'] as const;

const showCoverage = (coverage: Coverage): string[] => [
  `${coverage.coverage_id}  ${coverage.covered} of ${coverage.total} supplies ${coverage.covered === 1 ? 'is' : 'are'} covered`,
  ...(coverage.covered < coverage.total ? [GAPS.map((gap) => `${coverage[gap]} ${gap}`).join(', ')] : []),
  ...(coverage.batch_id ? [`the gaps are checked by ${coverage.batch_id}`] : []),
];

const showCoverageLine = ({ line, input, supply_date: date, status, error }: CoverageLine): string =>
  `line ${line}  ${input}  ${date}  ${status}${error ? ` (${error.code}: ${error.message})` : ''}`;

const gapLines = async function* (vat: Client, id: string, signal: AbortSignal): AsyncGenerator<CoverageLine> {
  for (const status of GAPS) yield* vat.list('listCoverageLines', { id, query: { status, limit: SHOWN } }, { signal });
};

/** `vat coverage` */
export const checkCoverage: Command = {
  takes: ['FILE'],
  summary: 'Says whether the number of every supply in a file (CSV or .xlsx) was checked in time',
  options: {
    'max-age-days': ['DAYS', 'days that a check may be older than the supply, 1 to 366; 30 by default'],
    'min-grade': ['GRADE', 'basic, named, corroborated or qualified; basic by default'],
    'queue-gaps': [null, 'check the numbers that are not covered'],
    out: ['FILE', 'write the results to this file: .csv, .xlsx, or .pdf for the report'],
    ...UPLOAD_OPTIONS,
  },
  run: async (args, { client, print, json, signal }) => {
    const out = await readOut(args, COVERAGE_FORMATS);
    const vat = client();
    const file = await readUpload(args.positionals[0] ?? '');
    const fields = {
      ...uploadFields(args),
      max_age_days: numberOf(args, 'max-age-days'),
      min_grade: choiceOf(args, 'min-grade', GRADES),
      queue_gaps: args.flags['queue-gaps'] === true || undefined,
    };
    const { body: coverage } = await vat.call('createCoverage', { file, query: fields }, { signal });
    const { coverage_id: id, total, covered } = coverage;
    const saved = await saveResults(vat, id, out, signal);
    if (json) print(JSON.stringify(coverage));
    else {
      const lines = await showLines(gapLines(vat, id, signal), total - covered, showCoverageLine);
      print(...showCoverage(coverage), ...lines, ...saved);
    }
    return covered === total ? EXIT.ok : EXIT.negative;
  },
};
