import { type CheckBody, publicId, type ResultLine } from '@vat/domain';
import type { LineResult } from '@vat/spreadsheet';

/** What the results file says of a line. The check speaks for itself: its recorded bytes are read, not the line's copy. */
export const resultOfLine = ({ vatNumber, error, check }: ResultLine): LineResult => {
  const body = check && (JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody);
  return {
    vat_number: vatNumber,
    valid: body?.valid ?? null,
    verdict: body?.verdict ?? null,
    name: body?.name ?? null,
    address: body?.address ?? null,
    consultation_number: body?.consultation_number ?? null,
    check_id: check && publicId('check', check.id),
    error: error?.code ?? null,
  };
};
