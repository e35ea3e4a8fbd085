import { Link } from '@tanstack/react-router';
import type { Coverage } from '../../api/shapes.js';
import { useApiList } from '../../api/use-api-query.js';
import { type Column, PagedTable } from '../../parts/data-table.js';
import { count } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { DateTime, Page, Status } from '../../parts/text.js';
import { CoverageUpload } from './coverage-upload.js';

const COLUMNS: readonly Column<Coverage>[] = [
  {
    head: 'File',
    cell: ({ coverage_id, label, file_name }) => (
      <Link to="/coverage/$id" params={{ id: coverage_id }} className="main-link">
        {label ?? file_name ?? coverage_id}
      </Link>
    ),
  },
  { head: 'Result', cell: ({ total, covered }) => <Status word={covered === total ? 'covered' : 'gaps'} /> },
  { head: 'Supplies', figures: true, cell: ({ total }) => count(total) },
  { head: 'Covered', figures: true, cell: ({ covered }) => count(covered) },
  { head: 'Gaps', figures: true, cell: ({ total, covered }) => count(total - covered) },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} /> },
];

/** Upload of a file with supplies, and the list of coverages. */
export const CoveragesPage = () => {
  const coverages = useApiList<Coverage>('coverage', '/coverage');
  return (
    <Page title="Coverage">
      <CoverageUpload />
      <PagedTable
        label="Coverages"
        list={coverages}
        columns={COLUMNS}
        rowKey={({ coverage_id }) => coverage_id}
        empty={
          <Empty title="No coverages yet">
            Choose an Excel workbook or a CSV file with the VAT number and the date of each supply. You will see which
            of them were checked in time.
          </Empty>
        }
      />
    </Page>
  );
};
