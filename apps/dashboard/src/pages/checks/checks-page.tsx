import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Check } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import { Empty } from '../../parts/empty.js';
import { Listing } from '../../parts/listing.js';
import { Page } from '../../parts/page.js';
import { CHECK_COLUMNS } from './check-columns.js';
import { CheckFilters } from './check-filters.js';
import { PendingRequests } from './pending-requests.js';

/** Every check of the account, the newest first; the filters are part of the address. */
export const ChecksPage = () => {
  const filters = useSearch({ from: '/signed-in/checks' });
  const navigate = useNavigate({ from: '/checks' });
  const checks = usePages<Check>('checks', '/checks', filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Checks"
      actions={
        <Link to="/checks/new" className="button primary">
          New check
        </Link>
      }
    >
      <PendingRequests />
      <CheckFilters filters={filters} onChange={(search) => void navigate({ search, replace: true })} />
      <Listing
        label="Checks"
        list={checks}
        columns={CHECK_COLUMNS}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="Nothing fits these filters" />
          ) : (
            <Empty
              title="No checks yet"
              action={
                <Link to="/checks/new" className="button">
                  Make the first one
                </Link>
              }
            >
              Checks made here, by your API keys, by batches and by watches are listed on this page.
            </Empty>
          )
        }
      />
    </Page>
  );
};
