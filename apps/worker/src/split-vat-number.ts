import { readVatNumber, type SplitVatNumber } from '@vat/domain';

/** A normalised number, split for VIES; null when no covered country's syntax accepts it. */
export const splitVatNumber = (vatNumber: string): SplitVatNumber | null => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'well_formed' ? { memberState: read.memberState, national: read.national } : null;
};
