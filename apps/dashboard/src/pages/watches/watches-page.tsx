import { Link } from '@tanstack/react-router';
import { MEMBER_STATES } from '@vat/domain/member-states';
import { type FormEvent, useRef, useState } from 'react';
import type { Frequency, Watch } from '../../api/shapes.js';
import { useChange, useIdempotencyKey } from '../../api/use-change.js';
import { usePages } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { type Column, Listing } from '../../parts/data-table.js';
import { Choice, Field, Form } from '../../parts/form.js';
import { count, countryName } from '../../parts/format.js';
import { Empty, Refusal } from '../../parts/states.js';
import { Card, Moment, Page, Status } from '../../parts/text.js';
import { useSession } from '../../session/session.js';

type NewWatch = {
  vat_number: string;
  country_code?: string;
  label?: string;
  requester_vat_number?: string;
  frequency: Frequency;
};

const FREQUENCIES: readonly Frequency[] = ['weekly', 'daily'];

const textsOf = (fields: FormData): Omit<NewWatch, 'frequency' | 'country_code'> => {
  const optional = ['label', 'requester_vat_number'].flatMap((name) => {
    const value = String(fields.get(name) ?? '').trim();
    return value === '' ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(optional), vat_number: String(fields.get('vat_number')) };
};

/** Adds a watch. What the plan does not sell is said before the service refuses it. */
export const AddWatch = () => {
  const { plan, allowance } = useSession().account;
  const sold: readonly Frequency[] = allowance.frequencies;
  const [frequency, setFrequency] = useState<Frequency>('weekly');
  const [country, setCountry] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const sameTry = useIdempotencyKey();
  const add = useChange(['watches'], (api, body: NewWatch) =>
    sameTry([JSON.stringify(body)], (headers) => api.call<Watch>('POST', '/watches', { body, headers })),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const texts = textsOf(new FormData(event.currentTarget));
    add.mutate(
      { ...texts, ...(country === '' ? {} : { country_code: country }), frequency },
      { onSuccess: () => form.current?.reset() },
    );
  };
  return (
    <Card
      title="New watch"
      hint={
        allowance.watches === 0
          ? `Your plan, ${plan}, sells no watches. A larger one does.`
          : `Your plan, ${plan}, sells up to ${count(allowance.watches)}, ${allowance.frequencies.join(' or ')}.`
      }
    >
      <Form ref={form} className="filters" onTry={add.reset} onSubmit={submit}>
        <Field label="VAT number" name="vat_number" isRequired autoComplete="off" placeholder="FR 40 303 265 045" />
        <Choice
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
        <Choice
          label="Frequency"
          value={frequency}
          onChange={setFrequency}
          options={FREQUENCIES.map((value) => ({
            value,
            label: sold.includes(value) ? value : `${value} (not in your plan)`,
          }))}
        />
        <div className="actions">
          <Button type="submit" look="primary" isPending={add.isPending}>
            Add watch
          </Button>
        </div>
      </Form>
      <Refusal error={add.error} />
      {add.data && <p role="status">{add.data.vat_number} is watched from now on; its first check comes soon.</p>}
    </Card>
  );
};

/** Pauses an active watch, and resumes a paused one. */
export const PauseWatch = ({ watch }: { watch: Watch }) => {
  const wanted = watch.status === 'active' ? 'paused' : 'active';
  const amend = useChange(['watches'], (api, status: Watch['status']) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body: { status } }),
  );
  return (
    <>
      <Button small isPending={amend.isPending} onPress={() => amend.mutate(wanted)}>
        {wanted === 'paused' ? 'Pause' : 'Resume'}
      </Button>
      <Refusal error={amend.error} />
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
