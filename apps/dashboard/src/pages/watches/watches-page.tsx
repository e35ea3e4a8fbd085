import { Link } from '@tanstack/react-router';
import { MEMBER_STATES } from '@vat/domain/member-states';
import { type FormEvent, useRef, useState } from 'react';
import type { Frequency, Watch } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { useApiList } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { type Column, PagedTable } from '../../parts/data-table.js';
import { Field, Form, filledFields, Select } from '../../parts/form.js';
import { count, countryName } from '../../parts/format.js';
import { Empty, ErrorAlert } from '../../parts/states.js';
import { Card, DateTime, Page, Status } from '../../parts/text.js';
import { useSession } from '../../session/session.js';

type NewWatch = {
  vat_number: string;
  country_code?: string;
  label?: string;
  requester_vat_number?: string;
  frequency: Frequency;
};

const FREQUENCIES: readonly Frequency[] = ['weekly', 'daily'];

/** Adds a watch. The form marks what the plan does not include. */
const AddWatch = () => {
  const { plan, allowance } = useSession().account;
  const included: readonly Frequency[] = allowance.frequencies;
  const [frequency, setFrequency] = useState<Frequency>('weekly');
  const [country, setCountry] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const sendOnce = useIdempotencyKey();
  const add = useApiMutation(['watches'], (api, body: NewWatch) =>
    sendOnce([JSON.stringify(body)], (headers) => api.call<Watch>('POST', '/watches', { body, headers })),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    add.mutate(
      {
        ...filledFields(event.currentTarget, ['label', 'requester_vat_number']),
        vat_number: String(new FormData(event.currentTarget).get('vat_number')),
        ...(country === '' ? {} : { country_code: country }),
        frequency,
      },
      { onSuccess: () => form.current?.reset() },
    );
  };
  return (
    <Card
      title="New watch"
      hint={
        allowance.watches === 0
          ? `Your plan, ${plan}, includes no watches. Upgrade to a larger plan to add watches.`
          : `Your plan, ${plan}, includes up to ${count(allowance.watches)} watches, ${allowance.frequencies.join(' or ')}.`
      }
    >
      <Form ref={form} className="filters" onBeforeSubmit={add.reset} onSubmit={submit}>
        <Field label="VAT number" name="vat_number" isRequired autoComplete="off" placeholder="FR 40 303 265 045" />
        <Select
          label="Country"
          value={country}
          onChange={setCountry}
          options={[
            { value: '', label: 'From the prefix' },
            ...MEMBER_STATES.map((code) => ({ value: code, label: `${code} · ${countryName(code)}` })),
          ]}
        />
        <Field label="Label" name="label" autoComplete="off" />
        <Field label="Requester" name="requester_vat_number" autoComplete="off" />
        <Select
          label="Frequency"
          value={frequency}
          onChange={setFrequency}
          options={FREQUENCIES.map((value) => ({
            value,
            label: included.includes(value) ? value : `${value} (not in your plan)`,
          }))}
        />
        <div className="actions">
          <Button type="submit" variant="primary" isPending={add.isPending}>
            Add watch
          </Button>
        </div>
      </Form>
      <ErrorAlert error={add.error} />
      {add.data && <p role="status">Watch added for {add.data.vat_number}. The first check runs soon.</p>}
    </Card>
  );
};

/** Pauses an active watch, and resumes a paused one. */
export const PauseWatch = ({ watch }: { watch: Watch }) => {
  const nextStatus = watch.status === 'active' ? 'paused' : 'active';
  const update = useApiMutation(['watches'], (api, status: Watch['status']) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body: { status } }),
  );
  return (
    <>
      <Button small isPending={update.isPending} onPress={() => update.mutate(nextStatus)}>
        {nextStatus === 'paused' ? 'Pause' : 'Resume'}
      </Button>
      <ErrorAlert error={update.error} />
    </>
  );
};

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
    cell: ({ last_checked_at, missed_since }) => (
      <>
        {last_checked_at ? <DateTime at={last_checked_at} /> : 'not yet'}
        {missed_since && (
          <div className="hint">
            could not be checked since <DateTime at={missed_since} />
          </div>
        )}
      </>
    ),
  },
  {
    head: 'Next check',
    cell: ({ next_check_at, status }) => (status === 'paused' ? null : <DateTime at={next_check_at} />),
  },
  { head: 'Action', hideHead: true, cell: (watch) => <PauseWatch watch={watch} /> },
];

/** The watches of the account, and the form to add one. */
export const WatchesPage = () => {
  const watches = useApiList<Watch>('watches', '/watches');
  return (
    <Page title="Watches">
      <AddWatch />
      <PagedTable
        label="Watches"
        list={watches}
        columns={COLUMNS}
        rowKey={({ watch_id }) => watch_id}
        empty={
          <Empty title="No watches yet">
            Add a VAT number above. The first check is the baseline. Later changes of validity, name or address appear
            here and are sent to your webhook.
          </Empty>
        }
      />
    </Page>
  );
};
