import { publicId } from '@vat/domain';

/** The name to save a batch's results under: that of its file with `-results`, or its id where the file had none. */
export const resultsFileName = (batchId: string, fileName: string | null): string => {
  const stem = fileName?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
  return `${stem === '' ? publicId('batch', batchId) : stem}-results.csv`;
};
