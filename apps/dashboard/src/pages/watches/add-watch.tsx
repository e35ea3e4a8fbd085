import { MEMBER_STATES } from '@vat/domain/member-states';
import { type FormEvent, useRef, useState } from 'react';
import type { Frequency, Watch } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useSameTry } from '../../api/use-same-try.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Choice } from '../../parts/choice.js';
import { count } from '../../parts/count.js';
import { countryName } from '../../parts/country-name.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Refusal } from '../../parts/refusal.js';
import { useSession } from '../../session/use-session.js';

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
  const sameTry = useSameTry();
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
