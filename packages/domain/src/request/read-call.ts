import { AppError } from '../errors.js';
import type { MemberState } from '../member-states.js';
import { readVatNumber } from '../vat-number/index.js';
import { SANDBOX_NUMBERS } from './sandbox-numbers.js';

type Spelt = { vatNumber: string; countryCode: string | undefined; caller: { test: boolean } };

/** A number as a call gave it. `malformed`: the sentence that says how; null when it is well formed. */
export type NumberOfCall = {
  memberState: MemberState;
  national: string;
  vatNumber: string;
  malformed: string | null;
  checksumFailed: boolean;
};

/** Reads the number, throwing BAD_REQUEST when no covered country can be told. */
export const readNumber = ({ vatNumber, countryCode, caller }: Spelt): NumberOfCall => {
  const read = readVatNumber(vatNumber, countryCode);
  if (read.kind === 'unresolvable') {
    throw new AppError('BAD_REQUEST', {
      message: read.reason,
      extra: { fields: [{ path: read.field, message: read.reason }] },
    });
  }
  const sandbox = caller.test && SANDBOX_NUMBERS.includes(read.national);
  const { memberState, national } = read;
  return {
    memberState,
    national,
    vatNumber: read.vatNumber,
    malformed: read.kind === 'malformed' && !sandbox ? read.reason : null,
    checksumFailed: read.kind === 'well_formed' && read.checksum === 'failed' && !sandbox,
  };
};

/** Reads the requester, throwing INVALID_REQUESTER when it is no well-formed number of a covered country. */
export const readRequester = (requester: string | undefined): string | null => {
  if (requester === undefined) return null;
  const read = readVatNumber(requester);
  if (read.kind === 'well_formed') return read.vatNumber;
  throw new AppError('INVALID_REQUESTER', {
    message: `requester_vat_number is not a valid VAT number. ${read.reason}`,
  });
};
