import { type FormEvent, useRef } from 'react';
import type { Frequency, Watch } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { type Column, ListPage, nameColumn } from '../../parts/data-table.js';
import { CountrySelect, Field, Form, filledFields, Select } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { Empty, ErrorAlert } from '../../parts/states.js';
import { Card, DateTime, Status } from '../../parts/text.js';
import { Changing, useSession } from '../../session/session.js';

/** The body of `POST /watches`. */
type NewWatch = { vat_number: string } & Partial<
  Record<'country_code' | 'label' | 'requester_vat_number' | 'frequency', string>
>;

type FrequencySelectProps =
  | { included: readonly Frequency[] }
  | { value: Frequency; onChange: (value: Frequency) => void };

/** The frequency of a watch, or the field `frequency` of a form, which marks what is not in `included`. */
export const FrequencySelect = (props: FrequencySelectProps) => (
  <Select
    label="Frequency"
    {...('included' in props ? { name: 'frequency' } : props)}
    options={(['weekly', 'daily'] as const).map((value) => ({
      value,
      label: !('included' in props) || props.included.includes(value) ? value : `${value} (not in your plan)`,
    }))}
  />
);

/** Adds a watch. The form marks what the plan does not include. */
const AddWatch = () => {
  const { plan, allowance } = useSession().account;
  const form = useRef<HTMLFormElement>(null);
  const sendOnce = useIdempotencyKey();
  const add = useApiMutation(['watches'], (api, body: NewWatch) =>
    sendOnce([JSON.stringify(body)], (headers) => api.call<Watch>('POST', '/watches', { body, headers })),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    add.mutate(
      {
        ...filledFields(event.currentTarget, ['country_code', 'label', 'requester_vat_number', 'frequency']),
        vat_number: String(new FormData(event.currentTarget).get('vat_number')),
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
        <CountrySelect fromPrefix="From the prefix" />
        <Field label="Label" name="label" autoComplete="off" />
        <Field label="Requester" name="requester_vat_number" autoComplete="off" />
        <FrequencySelect included={allowance.frequencies} />
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

/** Pauses an active watch, and resumes a paused one. `small`: in a row. */
export const PauseWatch = ({ watch, small = false }: { watch: Watch; small?: boolean }) => {
  const nextStatus = watch.status === 'active' ? 'paused' : 'active';
  const update = useApiMutation(
    ['watches'],
    (api, status: Watch['status']) => api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body: { status } }),
    { untilRead: true },
  );
  return (
    <Changing>
      <Button small={small} isPending={update.isPending} onPress={() => update.mutate(nextStatus)}>
        {nextStatus === 'paused' ? 'Pause' : 'Resume'}
      </Button>
      <ErrorAlert error={update.error} />
    </Changing>
  );
};

const idOf = ({ watch_id }: Watch) => watch_id;

const COLUMNS: readonly Column<Watch>[] = [
  nameColumn('VAT number', '/watches/$id', idOf, ({ vat_number }) => vat_number),
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
  { head: 'Action', hideHead: true, cell: (watch) => <PauseWatch watch={watch} small /> },
];

const EMPTY = (
  <Empty title="No watches yet">
    <Changing>Add a VAT number above.</Changing> The first check is the baseline. Later changes of validity, name or
    address appear here and are sent to your webhook.
  </Empty>
);

/** The watches of the account, and the form to add one. */
export const WatchesPage = () => (
  <ListPage title="Watches" topic="watches" path="/watches" columns={COLUMNS} rowKey={idOf} empty={EMPTY}>
    <Changing>
      <AddWatch />
    </Changing>
  </ListPage>
);
