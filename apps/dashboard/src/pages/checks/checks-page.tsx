import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Check, CheckRequest } from '../../api/shapes.js';
import { type Page, useApiList, useApiQuery } from '../../api/use-api-query.js';
import { type Column, DataTable, ListPage, PagedTable } from '../../parts/data-table.js';
import { FilterForm } from '../../parts/filter-form.js';
import { Field, PeriodFields, Select } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { NewCheck, NoChecksYet } from '../../parts/no-checks-yet.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, NextAttempt, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { abandonedBecause } from '../new-check/abandoned-because.js';

const CHECK_COLUMNS: readonly Column<Check>[] = [
  {
    head: 'VAT number',
    cell: ({ id, vat_number, test }) => (
      <>
        <Link to="/checks/$id" params={{ id }} className="main-link">
          {vat_number}
        </Link>{' '}
        {test && <Status word="test" />}
      </>
    ),
  },
  { head: 'Verdict', cell: ({ verdict }) => <Status word={verdict} /> },
  { head: 'Name', cell: ({ name }) => (name === null ? null : <span className="clipped">{name}</span>) },
  { head: 'Reference', cell: ({ reference }) => reference },
  { head: 'Checked', cell: ({ checked_at }) => <DateTime at={checked_at} /> },
];

/** Filters of `GET /checks`, as search parameters of the page. `to` is exclusive. */
type Filters = { vat_number?: string; valid?: string; from?: string; to?: string; reference?: string };

const VALIDITY = [
  { value: '', label: 'All' },
  { value: 'true', label: 'Valid' },
  { value: 'false', label: 'Not valid' },
] as const;

const FILTERS = ['vat_number', 'reference', 'valid', 'from', 'to'] as const;

const CheckFilters = ({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) => (
  <FilterForm names={FILTERS} filters={filters} onChange={onChange}>
    <Field label="VAT number" name="vat_number" defaultValue={filters.vat_number ?? ''} />
    <Field label="Reference" name="reference" defaultValue={filters.reference ?? ''} />
    <Select label="Validity" name="valid" defaultValue={filters.valid ?? ''} options={VALIDITY} />
    <PeriodFields period={filters} />
  </FilterForm>
);

const NUMBER_OF_REQUEST: Column<CheckRequest> = {
  head: 'VAT number',
  cell: ({ id, vat_number, test }) => (
    <>
      <Link to="/checks/new" search={{ request: id }} className="main-link">
        {vat_number}
      </Link>{' '}
      {test && <Status word="test" />}
    </>
  ),
};

const PENDING_COLUMNS: readonly Column<CheckRequest>[] = [
  NUMBER_OF_REQUEST,
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  { head: 'Last error', cell: ({ last_error }) => last_error },
  { head: 'Attempts', figures: true, cell: ({ attempts }) => count(attempts) },
  {
    head: 'Next attempt',
    cell: ({ next_attempt_at }) => next_attempt_at && <NextAttempt at={next_attempt_at} />,
  },
];

const PendingRequests = () => {
  const pending = useApiList<CheckRequest>('requests', '/requests', { status: 'pending' });
  if (!pending.error && !pending.data?.length) return null;
  return (
    <Card title="Pending" hint="VIES has not answered these requests yet. The service retries them in the background.">
      <PagedTable
        label="Pending requests"
        list={pending}
        columns={PENDING_COLUMNS}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Card>
  );
};

const ABANDONED_COLUMNS: readonly Column<CheckRequest>[] = [
  NUMBER_OF_REQUEST,
  { head: 'Reason', cell: ({ reason }) => abandonedBecause(reason) },
  { head: 'Requested', cell: ({ created_at }) => <DateTime at={created_at} /> },
  {
    head: 'Action',
    hideHead: true,
    cell: ({ vat_number }) => (
      <Changing>
        <Link to="/checks/new" search={{ vat_number }} className="button small">
          Check again
        </Link>
      </Changing>
    ),
  },
];

/** How long an abandoned request is listed, from when it was to be given up, and how many are. */
const ABANDONED = { days: 3, limit: 10 } as const;

const isRecent = ({ give_up_at, created_at }: CheckRequest): boolean =>
  Date.parse(give_up_at ?? created_at) > Date.now() - ABANDONED.days * 86_400_000;

const AbandonedRequests = () => {
  const query = { status: 'abandoned', limit: ABANDONED.limit };
  const rows = useApiQuery<Page<CheckRequest>>('requests', '/requests', { query }).data?.data.filter(isRecent) ?? [];
  if (rows.length === 0) return null;
  return (
    <Card
      title="Abandoned"
      hint={`The latest requests that ended without a check. They are listed for ${ABANDONED.days} days.`}
    >
      <DataTable label="Abandoned requests" columns={ABANDONED_COLUMNS} rows={rows} rowKey={({ id }) => id} />
    </Card>
  );
};

/** All checks of the account, newest first. The filters are part of the URL. */
export const ChecksPage = () => {
  const filters = useSearch({ from: '/signed-in/checks' });
  const navigate = useNavigate({ from: '/checks' });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <ListPage
      title="Checks"
      topic="checks"
      path="/checks"
      query={filters}
      columns={CHECK_COLUMNS}
      rowKey={({ id }) => id}
      empty={
        isFiltered ? (
          <Empty title="No checks match these filters" />
        ) : (
          <NoChecksYet>Checks from this dashboard, your API keys, batches and watches appear here.</NoChecksYet>
        )
      }
      actions={<NewCheck>New check</NewCheck>}
    >
      <PendingRequests />
      <AbandonedRequests />
      <CheckFilters filters={filters} onChange={(search) => void navigate({ search, replace: true })} />
    </ListPage>
  );
};
