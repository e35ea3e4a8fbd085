import { readVatNumber } from '@vat/domain';

/** A number as it is stored, however it was spelt; a text that is none finds nothing. */
export const speltNumber = (vatNumber: string): string => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'unresolvable' ? vatNumber : read.vatNumber;
};
