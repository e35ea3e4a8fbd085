import { COVERAGE_COLUMNS, csvRow, readCoverageFile } from '@vat/spreadsheet';
import type { Batch, Coverage } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';

/** The uncovered numbers in the results file of a coverage, each once. */
const uncoveredNumbers = (results: Uint8Array): string[] => {
  const { rows, width } = readCoverageFile(results);
  const first = width - COVERAGE_COLUMNS.length;
  const at = (name: (typeof COVERAGE_COLUMNS)[number]) => first + COVERAGE_COLUMNS.indexOf(name);
  const numbers = rows.flatMap(({ cells }) =>
    cells[at('coverage')] === 'covered' ? [] : (cells[at('vat_number_read')] ?? []),
  );
  return [...new Set(numbers)].filter((number) => number !== '');
};

/** Uploads the uncovered numbers of a coverage as a batch. `onCreated` gets its id. */
export const useGapCheck = (path: string, onCreated: (batchId: string) => Promise<void>) => {
  const sendOnce = useIdempotencyKey();
  return useApiMutation(['batches'], async (api, coverage: Coverage) => {
    const response = await api.send('GET', `${path}/results.csv`, { headers: { Accept: 'text/csv' } });
    const numbers = uncoveredNumbers(new Uint8Array(await response.arrayBuffer()));
    const form = new FormData();
    const name = coverage.label ?? coverage.file_name ?? coverage.coverage_id;
    form.set('label', `Gaps: ${name}`.slice(0, 100));
    const file = [['vat_number'], ...numbers.map((number) => [number])].map((cells) => csvRow(cells)).join('');
    form.set('file', new Blob([file], { type: 'text/csv' }), 'gaps.csv');
    const { batch_id } = await sendOnce([coverage.coverage_id], (headers) =>
      api.call<Batch>('POST', '/batches', { body: form, headers }),
    );
    await onCreated(batch_id);
  });
};
