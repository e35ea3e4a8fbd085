import { MEMBER_STATES } from '@vat/domain/member-states';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../api/api-error.js';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { countryName } from '../../parts/country-name.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';

const TRADER = {
  name: 'Trader name',
  street: 'Street',
  postal_code: 'Postal code',
  city: 'City',
  company_type: 'Company type',
} as const;

/** The body of `POST /checks`. */
export type NewCheck = {
  vat_number: string;
  country_code?: string;
  requester_vat_number?: string;
  reference?: string;
  trader?: Partial<Record<keyof typeof TRADER, string>>;
};

type CheckFormProps = {
  onTry: () => void;
  onSubmit: (check: NewCheck) => void;
  isPending: boolean;
  vatNumber: string;
  error: unknown;
};

const filled = <Name extends string>(fields: FormData, names: readonly Name[]): Partial<Record<Name, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = String(fields.get(name) ?? '').trim();
      return value === '' ? [] : [[name, value]];
    }),
  ) as Partial<Record<Name, string>>;

const read = (fields: FormData): Omit<NewCheck, 'country_code'> => {
  const trader = filled(fields, Object.keys(TRADER) as (keyof typeof TRADER)[]);
  return {
    ...filled(fields, ['requester_vat_number', 'reference'] as const),
    vat_number: String(fields.get('vat_number')),
    ...(Object.keys(trader).length > 0 ? { trader } : {}),
  };
};

/** What a check needs, and behind a click what it can take besides. */
export const CheckForm = ({ onTry, onSubmit, isPending, vatNumber, error }: CheckFormProps) => {
  const [country, setCountry] = useState('');
  const wrong = (path: string) =>
    error instanceof ApiError ? error.extra.fields?.find((field) => field.path === path)?.message : undefined;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const check = read(new FormData(event.currentTarget));
    onSubmit(country === '' ? check : { ...check, country_code: country });
  };
  return (
    <Form className="card stack" onTry={onTry} onSubmit={submit} aria-label="New check">
      <Field
        label="VAT number"
        name="vat_number"
        defaultValue={vatNumber}
        placeholder="FR 40 303 265 045"
        hint="With its country prefix, or choose the country below. Spaces and dots do not matter."
        error={wrong('vat_number')}
        isRequired
        autoFocus
        autoComplete="off"
      />
      <Choice
        label="Country"
        value={country}
        onChange={setCountry}
        options={[
          { value: '', label: 'From the number’s prefix' },
          ...MEMBER_STATES.map((code) => ({ value: code, label: `${code} · ${countryName(code)}` })),
        ]}
      />
      <Field
        label="Requester"
        name="requester_vat_number"
        hint="Your own number; VIES then gives a consultation number as proof of the enquiry."
        error={wrong('requester_vat_number')}
        autoComplete="off"
      />
      <Field
        label="Reference"
        name="reference"
        hint="Your own name for it, such as an order."
        error={wrong('reference')}
        autoComplete="off"
      />
      <details>
        <summary>Compare with what you know of the trader</summary>
        <div className="stack">
          <p className="hint">VIES says which of these fit, where the member state supports it.</p>
          {Object.entries(TRADER).map(([name, label]) => (
            <Field key={name} label={label} name={name} autoComplete="off" />
          ))}
        </div>
      </details>
      <Button type="submit" look="primary" isPending={isPending}>
        Check
      </Button>
    </Form>
  );
};
