import { cleanVatText, readCountryCode } from '@vat/domain/vat-syntax';

/** Longest cell that is looked at: two letters and what may stand around them. */
const LONGEST = 12;

/** Whether a cell holds a country's code of two letters, covered or not, in any case. */
export const isCountryCode = (cell: string): boolean => {
  if (cell.length > LONGEST) return false;
  const code = cleanVatText(cell);
  return code.length === 2 && readCountryCode(code) !== null;
};
