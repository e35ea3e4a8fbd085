import { Link } from '@tanstack/react-router';
import type { CheckRequest } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import { Card } from '../../parts/card.js';
import type { Column } from '../../parts/data-table.js';
import { Listing } from '../../parts/listing.js';
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
  const pending = usePages<CheckRequest>('requests', '/requests', { status: 'pending' });
  if (!pending.error && !pending.data?.length) return null;
  return (
    <Card
      title="Pending"
      hint="The upstream has not answered these yet. They are asked again in the background and finish by themselves."
    >
      <Listing label="Pending requests" list={pending} columns={COLUMNS} rowKey={({ id }) => id} empty={null} />
    </Card>
  );
};
