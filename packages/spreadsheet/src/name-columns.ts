import { findColumns, type NamedColumns } from './find-columns.js';
import { rateVatText } from './rate-vat-text.js';

/**
 * What a row names, if it is the header. One with a number in it is data, though its other cells may be words that also name columns
 * (`id`, `Land`); what only resembles a number (`RO 2024`) is no such proof beside a name for the number's column.
 */
export const nameColumns = (cells: readonly string[]): NamedColumns => {
  const named = findColumns(cells);
  const resemblance = Math.max(0, ...cells.map((cell) => rateVatText(cell)));
  const isData = resemblance === 2 || (resemblance === 1 && named.candidate.length === 0);
  return isData ? { candidate: [], country: [], reference: [], requester: [] } : named;
};
