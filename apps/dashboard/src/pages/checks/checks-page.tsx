import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef } from 'react';
import type { Check, CheckRequest } from '../../api/shapes.js';
import { usePages } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { type Column, Listing } from '../../parts/data-table.js';
import { Choice, Field, Form } from '../../parts/form.js';
import { validatePeriod } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { Card, Moment, Page, Status } from '../../parts/text.js';

/** How checks are listed. */
export const CHECK_COLUMNS: readonly Column<Check>[] = [
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
  { head: 'Checked', cell: ({ checked_at }) => <Moment at={checked_at} /> },
];

/** What `GET /checks` filters by, as texts of the address. `to` is the first day that is left out. */
export type Filters = { vat_number?: string; valid?: string; from?: string; to?: string; reference?: string };

const VALIDITY = [
  { value: '', label: 'All' },
  { value: 'true', label: 'Valid' },
  { value: 'false', label: 'Not valid' },
] as const;

const TEXTS = ['vat_number', 'reference', 'from', 'to'] as const;

const given = (form: HTMLFormElement): Filters => {
  const fields = new FormData(form);
  return Object.fromEntries(
    TEXTS.flatMap((name) => {
      const value = String(fields.get(name) ?? '').trim();
      return value === '' ? [] : [[name, value]];
    }),
  );
};

/** The filters above the list of checks. */
export const CheckFilters = ({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) => {
  const form = useRef<HTMLFormElement>(null);
  // Going back in the browser changes the address, and the fields have to follow.
  useEffect(() => {
    for (const name of TEXTS) {
      const input = form.current?.querySelector<HTMLInputElement>(`input[name=${name}]`);
      if (input && input !== document.activeElement) input.value = filters[name] ?? '';
    }
  }, [filters]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    onChange({ ...given(event.currentTarget), ...(filters.valid ? { valid: filters.valid } : {}) });
  };
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Form
      ref={form}
      aria-label="Filter"
      className="filters"
      onTry={() => undefined}
      judge={validatePeriod}
      onSubmit={submit}
    >
      <Field label="VAT number" name="vat_number" defaultValue={filters.vat_number ?? ''} />
      <Field label="Reference" name="reference" defaultValue={filters.reference ?? ''} />
      <Choice
        label="Validity"
        value={(filters.valid ?? '') as '' | 'true' | 'false'}
        options={VALIDITY}
        onChange={(valid) => form.current && onChange({ ...given(form.current), ...(valid === '' ? {} : { valid }) })}
      />
      <Field label="From" name="from" type="date" defaultValue={filters.from ?? ''} />
      <Field label="Before" name="to" type="date" defaultValue={filters.to ?? ''} />
      <div className="actions">
        <Button type="submit">Filter</Button>
        {isFiltered && (
          <Button look="quiet" onPress={() => onChange({})}>
            Clear
          </Button>
        )}
      </div>
    </Form>
  );
};

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
