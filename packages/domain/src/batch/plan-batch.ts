import type { AbandonReason } from '../delivery/event-bodies.js';
import { ERROR_CATALOGUE } from '../errors.js';
import { uuidsAt } from '../ids.js';
import { malformedAnswer, openingEntry } from '../request/request-check.js';
import { stripUnsafeCharacters } from '../strip-unsafe-characters.js';
import { type ReadVatNumber, readVatNumber } from '../vat-number/index.js';
import type { BatchRow, LineError, NewBatchRequest, NewLine } from './batch.js';

/** A line as the file alone determines it. `read`: the number to look up; null when an error made it unreadable. */
type PlannedLine =
  | { error: null; read: ResolvedNumber; requester: string | null; reference: string | null }
  | { error: LineError; read: ResolvedNumber | null; reference: string | null };

type ResolvedNumber = Exclude<ReadVatNumber, { kind: 'unresolvable' }>;

/** The maximum for a number in a direct call. */
const MAX_NUMBER_LENGTH = 40;
const MAX_REFERENCE_LENGTH = 64;
const NOT_PRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Counts characters (Unicode code points), as the schemas of direct calls do. A cell may be large. */
const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

const textOrNull = (cell: string | null): string | null => {
  const text = cell === null ? '' : stripUnsafeCharacters(cell).trim();
  return text === '' ? null : text;
};

/**
 * Validates one row: its number, its reference, its requester, in this order; the first fault is the line's error. A number
 * that its country's syntax does not accept is no fault: its check says so. `requester`: the batch's, normalised; the
 * line's own wins.
 */
export const planLine = (row: BatchRow, requester: string | null): PlannedLine => {
  const reference = textOrNull(row.reference);
  const fault = (code: LineError['code'], message: string, read: ReadVatNumber | null = null): PlannedLine => ({
    error: { code, message },
    read: read === null || read.kind === 'unresolvable' ? null : read,
    reference,
  });

  const candidate = textOrNull(row.candidate);
  if (candidate === null) return fault('BAD_REQUEST', 'The line has no number.');
  if (isLonger(candidate, MAX_NUMBER_LENGTH))
    return fault('BAD_REQUEST', `The number is longer than ${MAX_NUMBER_LENGTH} characters.`);
  const read = readVatNumber(candidate, textOrNull(row.country) ?? undefined, 'column');
  if (read.kind === 'unresolvable') return fault('BAD_REQUEST', read.reason);

  if (reference !== null && (isLonger(reference, MAX_REFERENCE_LENGTH) || NOT_PRINTABLE.test(reference)))
    return fault('INVALID_REFERENCE', ERROR_CATALOGUE.INVALID_REFERENCE.message, read);

  const own = textOrNull(row.requester);
  if (own === null) return { error: null, read, requester, reference };
  const readRequester = readVatNumber(own, undefined, 'nowhere');
  if (readRequester.kind !== 'well_formed')
    return fault('INVALID_REQUESTER', `The requester is not a valid VAT number. ${readRequester.reason}`, read);
  return { error: null, read, requester: readRequester.vatNumber, reference };
};

/** Text without the characters that Postgres cannot store in text or JSON: U+0000 and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The lines of a file, in its order, and the requests they share. */
export type BatchPlan = { lines: NewLine[]; requests: NewBatchRequest[] };

type BatchToPlan = {
  rows: readonly BatchRow[];
  /** The batch's requester, normalised. */
  requester: string | null;
  at: Date;
};

/**
 * Turns the rows of a file into its lines and the requests they share: lines of the same number and requester have one.
 * Malformed numbers are answered already, and share a request only when they were written alike, since two different faults
 * may look the same once normalised. Ten thousand rows take half a second, so this must not run in a thread that serves
 * callers.
 */
export const planBatch = ({ rows, requester, at }: BatchToPlan): BatchPlan => {
  const lines: NewLine[] = [];
  const requests = new Map<string, NewBatchRequest>();
  // Lines are read in the order of their ids.
  const newId = uuidsAt(at);
  for (const row of rows) {
    const planned = planLine(row, requester);
    const input = storableText(stripUnsafeCharacters(row.candidate));
    const line = {
      id: newId(),
      line: row.line,
      input,
      vatNumber: planned.read?.vatNumber ?? null,
      reference: planned.reference === null ? null : storableText(planned.reference),
      cells: row.cells.map(storableText),
    };
    if (planned.error !== null) {
      lines.push({ ...line, requestId: null, error: planned.error });
      continue;
    }
    const { read } = planned;
    const malformed = read.kind === 'malformed' ? read.reason : null;
    const checksumFailed = read.kind === 'well_formed' && read.checksum === 'failed';
    const shared = JSON.stringify([read.vatNumber, planned.requester, malformed === null ? null : input]);
    const request = requests.get(shared) ?? {
      id: newId(),
      input,
      memberState: read.memberState,
      national: read.national,
      vatNumber: read.vatNumber,
      requester: planned.requester,
      reference: planned.reference,
      entries: [openingEntry({ malformed, checksumFailed }, at)],
      answer: malformed === null ? null : malformedAnswer(at),
    };
    requests.set(shared, request);
    lines.push({ ...line, requestId: request.id, error: null });
  }
  return { lines, requests: [...requests.values()] };
};

/** The errors of lines whose request ended without a check. */
export const LINE_ENDINGS: Readonly<Record<AbandonReason, LineError>> = {
  UPSTREAM_NO_ANSWER: {
    code: 'UPSTREAM_NO_ANSWER',
    message: 'The upstream did not answer in time; upload the number again later.',
  },
  NEVER_ASKED: {
    code: 'NEVER_ASKED',
    message: 'The number could not be looked up within 7 days; upload it again.',
  },
  ACCOUNT_DISABLED: { code: 'ACCOUNT_DISABLED', message: 'The account was disabled before this line was answered.' },
  INVALID_REQUESTER: { code: 'INVALID_REQUESTER', message: 'The upstream does not accept the requester of this line.' },
};
