import { Link } from '@tanstack/react-router';
import type { CheckRequest } from '../../api/shapes.js';
import type { Page } from '../../api/use-pages.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Moment } from '../../parts/moment.js';
import { Status } from '../../parts/status.js';

const COLUMNS: readonly Column<CheckRequest>[] = [
  {
    head: 'VAT number',
    cell: ({ id, vat_number, test }) => (
      <>
        <Link to="/checks/new" search={{ request: id }} className="main-link">
          {vat_number}
        </Link>{' '}
        {test && <Status word="test" />}
      </>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  { head: 'Last answer', cell: ({ last_error }) => last_error },
  { head: 'Asked', figures: true, cell: ({ attempts }) => `${attempts} ×` },
  {
    head: 'Next try',
    cell: ({ next_attempt_at }) => (next_attempt_at ? <Moment at={next_attempt_at} seconds /> : null),
  },
];

/** What was accepted with 202 and has no answer yet; nothing is shown while there is none. */
export const PendingRequests = () => {
  const pending = useRead<Page<CheckRequest>>('requests', '/requests', { query: { status: 'pending' } });
  if (!pending.data || pending.data.data.length === 0) return null;
  return (
    <Card
      title="Pending"
      hint="The upstream has not answered these yet. They are asked again in the background and finish by themselves."
    >
      <DataTable label="Pending requests" columns={COLUMNS} rows={pending.data.data} rowKey={({ id }) => id} />
    </Card>
  );
};
