import { Link } from '@tanstack/react-router';
import type { Watch } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import type { Column } from '../../parts/data-table.js';
import { Empty } from '../../parts/empty.js';
import { Listing } from '../../parts/listing.js';
import { Moment } from '../../parts/moment.js';
import { Page } from '../../parts/page.js';
import { Status } from '../../parts/status.js';
import { AddWatch } from './add-watch.js';
import { PauseWatch } from './pause-watch.js';

const COLUMNS: readonly Column<Watch>[] = [
  {
    head: 'VAT number',
    cell: ({ watch_id, vat_number }) => (
      <Link to="/watches/$id" params={{ id: watch_id }} className="main-link">
        {vat_number}
      </Link>
    ),
  },
  { head: 'Label', cell: ({ label }) => label },
  { head: 'Frequency', cell: ({ frequency }) => frequency },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Last checked',
    cell: ({ last_checked_at }) => (last_checked_at ? <Moment at={last_checked_at} /> : 'not yet'),
  },
  {
    head: 'Next',
    cell: ({ next_check_at, status }) => (status === 'paused' ? null : <Moment at={next_check_at} />),
  },
  { head: 'Action', hideHead: true, cell: (watch) => <PauseWatch watch={watch} /> },
];

/** Numbers that are asked about again and again, so that a change is known before the next invoice. */
export const WatchesPage = () => {
  const watches = usePages<Watch>('watches', '/watches');
  return (
    <Page title="Watches">
      <AddWatch />
      <Listing
        label="Watches"
        list={watches}
        columns={COLUMNS}
        rowKey={({ watch_id }) => watch_id}
        empty={
          <Empty title="Nothing is watched yet">
            Add a number above. It is asked about soon, as the baseline, and then again and again; a change of validity,
            name or address is shown here and sent to your webhook.
          </Empty>
        }
      />
    </Page>
  );
};
