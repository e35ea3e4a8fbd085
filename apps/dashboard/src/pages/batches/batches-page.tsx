import { Link } from '@tanstack/react-router';
import type { Batch } from '../../api/shapes.js';
import { useApiList } from '../../api/use-api-query.js';
import { type Column, PagedTable } from '../../parts/data-table.js';
import { clockTime, count, countryName, listOf } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { DateTime, Page, Status } from '../../parts/text.js';
import { UploadCard } from './upload-card.js';

/** When a batch was completed or will be, or what it waits for. */
const Completion = ({ batch: { completed_at, eta, waiting_for } }: { batch: Batch }) => {
  if (completed_at !== null) return <DateTime at={completed_at} />;
  if (eta !== null) return <time dateTime={eta}>{`at about ${clockTime(new Date(eta), new Date())}`}</time>;
  return waiting_for.length === 0 ? null : `waits for ${listOf(waiting_for.map(countryName))}`;
};

const COLUMNS: readonly Column<Batch>[] = [
  {
    head: 'Batch',
    cell: ({ batch_id, label, file_name }) => (
      <Link to="/batches/$id" params={{ id: batch_id }} className="main-link">
        {label ?? file_name ?? batch_id}
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Progress',
    figures: true,
    cell: ({ total, done, failed }) => `${count(done + failed)} of ${count(total)}`,
  },
  { head: 'Valid', figures: true, cell: ({ valid }) => count(valid) },
  { head: 'Invalid', figures: true, cell: ({ invalid }) => count(invalid) },
  { head: 'Failed', figures: true, cell: ({ failed }) => count(failed) },
  { head: 'Completed', cell: (batch) => <Completion batch={batch} /> },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} /> },
];

/** Upload of a file with VAT numbers, and the list of batches. */
export const BatchesPage = () => {
  const batches = useApiList<Batch>('batches', '/batches');
  return (
    <Page title="Batches">
      <UploadCard />
      <PagedTable
        label="Batches"
        list={batches}
        columns={COLUMNS}
        rowKey={({ batch_id }) => batch_id}
        empty={
          <Empty title="No batches yet">
            Choose an Excel workbook or a CSV file above. One column with VAT numbers is enough. You will see a preview
            before anything is uploaded.
          </Empty>
        }
      />
    </Page>
  );
};
