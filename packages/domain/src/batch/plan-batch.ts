import { ERROR_CATALOGUE } from '../errors.js';
import { newUuid } from '../ids.js';
import type { AbandonReason } from '../request/request.js';
import { malformedAnswer, openingEntry } from '../request/request-check.js';
import { stripUnsafeCharacters } from '../strip-unsafe-characters.js';
import { type ReadVatNumber, readVatNumber } from '../vat-number/index.js';
import type { BatchRow, LineError, NewBatchRequest, NewLine } from './batch.js';

/** A line as far as the file alone decides. `read`: what is to be asked; absent when the line has failed. */
export type PlannedLine =
  | { error: null; read: ResolvedNumber; requester: string | null; reference: string | null }
  | { error: LineError; read: ResolvedNumber | null; reference: string | null };

type ResolvedNumber = Exclude<ReadVatNumber, { kind: 'unresolvable' }>;

/** Of a number as a direct call may send it. Source: contract part 2 §4. */
const LONGEST_NUMBER = 40;
const LONGEST_REFERENCE = 64;
const NOT_PRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const filled = (cell: string | null): string | null => {
  const text = cell === null ? '' : stripUnsafeCharacters(cell).trim();
  return text === '' ? null : text;
};

/**
 * Judges one row: its number, its reference, its requester, in this order; the first fault is the line's error. A number
 * that its country's syntax does not accept is no fault: its check says so. `requester`: the batch's, normalised; the
 * line's own wins. Source: contract part 2 §5.
 */
export const planLine = (row: BatchRow, requester: string | null): PlannedLine => {
  const reference = filled(row.reference);
  const fault = (code: LineError['code'], message: string, read: ReadVatNumber | null = null): PlannedLine => ({
    error: { code, message },
    read: read === null || read.kind === 'unresolvable' ? null : read,
    reference,
  });

  const candidate = filled(row.candidate);
  if (candidate === null) return fault('BAD_REQUEST', 'The line has no number.');
  if (candidate.length > LONGEST_NUMBER)
    return fault('BAD_REQUEST', `The number is longer than ${LONGEST_NUMBER} characters.`);
  const read = readVatNumber(candidate, filled(row.country) ?? undefined);
  if (read.kind === 'unresolvable') return fault('BAD_REQUEST', read.reason);

  if (reference !== null && (reference.length > LONGEST_REFERENCE || NOT_PRINTABLE.test(reference)))
    return fault('INVALID_REFERENCE', ERROR_CATALOGUE.INVALID_REFERENCE.message, read);

  const own = filled(row.requester);
  if (own === null) return { error: null, read, requester, reference };
  const readRequester = readVatNumber(own);
  if (readRequester.kind !== 'well_formed')
    return fault('INVALID_REQUESTER', `The requester is not a valid VAT number. ${readRequester.reason}`, read);
  return { error: null, read, requester: readRequester.vatNumber, reference };
};

/** Text without what Postgres keeps in no text, and in no JSON either: U+0000 and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The lines of a file, in its order, and the requests they share. */
export type BatchPlan = { lines: NewLine[]; requests: NewBatchRequest[] };

export type BatchToPlan = {
  rows: readonly BatchRow[];
  /** The batch's requester, normalised. */
  requester: string | null;
  at: Date;
};

/**
 * Turns the rows of a file into its lines and into the requests they share: lines of the same number and requester have
 * one. Malformed numbers come answered already, and share a request only when they were written alike, since what is wrong
 * in two of them may look the same once it is shown. Ten thousand rows take half a second: not for a thread that serves
 * callers. Source: contract part 2 §5.
 */
export const planBatch = ({ rows, requester, at }: BatchToPlan): BatchPlan => {
  const lines: NewLine[] = [];
  const requests = new Map<string, NewBatchRequest>();
  for (const row of rows) {
    const planned = planLine(row, requester);
    const input = storableText(stripUnsafeCharacters(row.candidate));
    const line = {
      id: newUuid(),
      line: row.line,
      input,
      vatNumber: planned.read?.vatNumber ?? null,
      reference: planned.reference === null ? null : storableText(planned.reference),
      cellsJson: JSON.stringify(row.cells.map(storableText)),
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
      id: newUuid(),
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

/** What the lines of a request that ended without a check say. Source: contract part 2 §5. */
export const LINE_ENDINGS: Readonly<Record<AbandonReason, LineError>> = {
  UPSTREAM_NO_ANSWER: {
    code: 'UPSTREAM_NO_ANSWER',
    message: 'The upstream did not answer in time; upload the number again later.',
  },
  ACCOUNT_DISABLED: { code: 'ACCOUNT_DISABLED', message: 'The account was disabled before this line was answered.' },
  INVALID_REQUESTER: { code: 'INVALID_REQUESTER', message: 'The upstream does not accept the requester of this line.' },
};
