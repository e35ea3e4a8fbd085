import { atTheEdge } from '../at-the-edge.js';
import { ERROR_CATALOGUE } from '../errors.js';
import { type ReadVatNumber, readVatNumber } from '../vat-number/index.js';
import type { LineError } from './batch.js';
import type { BatchRow } from './ports.js';

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
  const text = cell === null ? '' : atTheEdge(cell).trim();
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
