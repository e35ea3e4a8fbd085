import { canonicalText } from '../canonical-form.js';
import { counted, type ReportBuilder } from './dossier-report.js';
import {
  bytesOf,
  cellIn,
  type Json,
  MissingFile,
  objectIn,
  parseObject,
  type Row,
  readText,
  secondsOf,
  textOf,
} from './read-content.js';
import type { DossierFiles } from './read-dossier-zip.js';

const SEAL = ['SHA256SUMS', 'SHA256SUMS.tsr'];

/** Compares every file with its SHA-256 in SHA256SUMS. */
export const checkSums = (files: DossierFiles, report: ReportBuilder): void => {
  const listed = new Map<string, string>();
  for (const line of readText(files, 'SHA256SUMS').split(/\r\n|\n|\r/)) {
    if (line === '') continue;
    const [, digest = '', path = ''] = line.match(/^([0-9a-f]{64}) {2}([A-Za-z0-9._/-]+)$/) ?? [];
    if (path === '' || listed.has(path) || path.split('/').some((part) => ['', '.', '..'].includes(part)))
      report.problem('sums_line', { file: 'SHA256SUMS', line: line.slice(0, 120) });
    else listed.set(path, digest);
  }
  for (const path of listed.keys()) if (!files.has(path)) report.problem('file_missing', { file: path });
  for (const [path, { sha256 }] of files) {
    const digest = listed.get(path);
    if (digest === undefined && !SEAL.includes(path)) report.problem('file_added', { file: path });
    if (digest !== undefined && digest !== sha256) report.problem('file_changed', { file: path });
  }
  report.count({ files: files.size });
  report.passed(`${listed.size} files are those that SHA256SUMS names, unchanged.`);
};

/** The checks of a dossier by id: the hash (hex), the stated time in seconds since 1970, and the body. */
type FoundCheck = { hash: string; checkedAt: number; body: Json };
export type FoundChecks = Map<string, FoundCheck>;

/** Rows of checks.csv by the id of the check. */
export type CheckRows = Map<string, Row>;

/** Columns of checks.csv that a check has a field for. */
const COMPARED_COLUMNS = [
  ...['checked_at', 'vat_number', 'country_code', 'verdict', 'valid', 'name', 'address', 'requester_vat_number'],
  ...['consultation_number', 'reference', 'request_id'],
];
const FIRST_COLUMNS = ['id', ...COMPARED_COLUMNS, 'response_hash', 'timestamp', 'anchor_seq'];
/** The columns of checks.csv: of earlier releases, and of this one. */
export const CHECKS_COLUMNS = [FIRST_COLUMNS, [...FIRST_COLUMNS, 'evidence_grade']];

const cellOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value));

/**
 * A cell without the ' before each part of it that a spreadsheet would read as a formula: one with another delimiter divides a
 * cell there.
 */
const withoutMarks = (cell: string | undefined): string => cell?.replace(/(^|[;\t\r\n])'/g, '$1') ?? '';

/** Compares every check with its canonical form, its name and its row in checks.csv. */
export const checkChecks = (files: DossierFiles, rows: CheckRows, report: ReportBuilder): FoundChecks => {
  const checks: FoundChecks = new Map();
  for (const [path, { sha256 }] of files) {
    if (!path.startsWith('checks/')) continue;
    const text = textOf(bytesOf(files, path));
    const body = parseObject(text);
    if (typeof body.id !== 'string') throw new Error('a check without id');
    const { id } = body;
    checks.set(id, { hash: sha256, checkedAt: secondsOf(body.checked_at), body });
    if (path !== `checks/${id}.json`) report.problem('check_renamed', { file: path, check_id: id });
    if (canonicalText(body) !== text) report.problem('check_form', { file: path });
    const row = rows.get(id);
    if (row === undefined) {
      report.problem('check_unlisted', { check_id: id });
      continue;
    }
    if (cellIn(row, 'response_hash') !== `sha256:${sha256}`) report.problem('check_hash', { file: path });
    // Tables of earlier releases have no grades, and neither have the checks of that time.
    const columns = 'evidence_grade' in row ? [...COMPARED_COLUMNS, 'evidence_grade'] : COMPARED_COLUMNS;
    for (const column of columns)
      if (withoutMarks(cellIn(row, column)) !== withoutMarks(cellOf(body[column])))
        report.problem('check_cell', { file: path, column });
  }
  for (const id of rows.keys()) if (!checks.has(id)) report.problem('check_missing', { check_id: id });
  report.passed(
    counted(
      checks.size,
      'check is in the form that was hashed, and agrees with checks.csv.',
      'checks are in the form that was hashed, and agree with checks.csv.',
    ),
  );
  return checks;
};

/** Of an exchange without a body. */
const EMPTY = { size: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' };

/** Throws {@link MissingFile} for a body that is named and missing. */
const checkBody = (path: string, recorded: Json, files: DossierFiles, { problem }: ReportBuilder): void => {
  const file = files.get(path);
  if (recorded.file === null && file) problem('body_unexpected', { file: path });
  if (recorded.file !== null && recorded.file !== path.slice(path.lastIndexOf('/') + 1)) {
    problem('body_renamed', { file: path });
    return;
  }
  if (recorded.file !== null && !file) throw new MissingFile(path);
  const actual = recorded.file === null || !file ? EMPTY : file;
  if (actual.size !== recorded.size || actual.sha256 !== recorded.sha256) problem('body_differs', { file: path });
};

/** Compares the bodies of all exchanges with their records. Returns the numbers of exchanges and of requests. */
export const checkExchanges = (files: DossierFiles, checks: FoundChecks, report: ReportBuilder) => {
  const paths = [...files.keys()];
  const bodies = new Set(
    paths.filter((path) => /^(exchanges|requests)\/[^/]+\/\d+-[a-z_]+\.(request|response)$/.test(path)),
  );
  const records = paths.filter((path) => /^(exchanges|requests)\/[^/]+\/\d+-[a-z_]+\.json$/.test(path));
  for (const path of records) {
    const [folder, owner = ''] = path.split('/');
    if (folder === 'exchanges' && !checks.has(owner)) report.problem('exchange_unclaimed', { file: path });
    const record = parseObject(readText(files, path));
    const stem = path.slice(0, -'.json'.length);
    checkBody(`${stem}.request`, objectIn(record, 'request'), files, report);
    bodies.delete(`${stem}.request`);
    if (record.response === null) continue;
    checkBody(`${stem}.response`, objectIn(record, 'response'), files, report);
    bodies.delete(`${stem}.response`);
  }
  for (const path of bodies) report.problem('body_unclaimed', { file: path });
  const requests = paths.filter((path) => /^requests\/[^/]+\/request\.json$/.test(path));
  for (const path of requests)
    if (parseObject(readText(files, path)).id !== path.split('/')[1]) report.problem('request_renamed', { file: path });
  report.passed(
    counted(
      records.length,
      'exchange with an outside source agrees with its record.',
      'exchanges with outside sources agree with their records.',
    ),
  );
  return { exchanges: records.length, requests: requests.length };
};
