import { type FormEvent, useLayoutEffect, useRef } from 'react';
import { ApiError, explainError } from '../../api/errors.js';
import { Button } from '../../parts/button.js';
import { CountrySelect, Field, Form, filledFields } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { PART_NAMES } from '../check/names.js';

const TRADER = { ...PART_NAMES, name: 'Trader name' };

const HINTS: Record<string, string> = { company_type: 'The VIES code, such as ES-1.' };

/** The body of `POST /checks`. */
export type NewCheck = {
  vat_number: string;
  country_code?: string;
  requester_vat_number?: string;
  reference?: string;
  trader?: Partial<Record<keyof typeof TRADER, string>>;
};

type CheckFormProps = {
  onBeforeSubmit: () => void;
  onSubmit: (check: NewCheck) => void;
  isPending: boolean;
  vatNumber: string;
  error: unknown;
};

/** The form field that shows an error, by the field that the API names. */
const FORM_FIELDS: Record<string, 'vat_number' | 'requester_vat_number' | 'reference'> = {
  vat_number: 'vat_number',
  country_code: 'vat_number',
  requester_vat_number: 'requester_vat_number',
  reference: 'reference',
};

/** Error messages by form field; null when the error concerns something else, or a field that may be collapsed. */
const fieldErrorsOf = (error: unknown): Record<string, string> | null => {
  if (!(error instanceof ApiError)) return null;
  const { cause, remedy, fields } = explainError(error);
  if (error.code === 'INVALID_REQUESTER') return { requester_vat_number: `${cause} ${remedy}` };
  if (fields.length === 0 || fields.some(({ path }) => FORM_FIELDS[path] === undefined)) return null;
  return Object.fromEntries(fields.map(({ path, message }) => [FORM_FIELDS[path], message]));
};

/** The form for a check. Trader details are collapsed by default. */
export const CheckForm = ({ onBeforeSubmit, onSubmit, isPending, vatNumber, error }: CheckFormProps) => {
  const form = useRef<HTMLFormElement>(null);
  const fieldErrors = fieldErrorsOf(error);
  useLayoutEffect(() => {
    // With the trader details open, or on a phone, the error can be out of view.
    if (error) form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const texts = filledFields(event.currentTarget, ['country_code', 'requester_vat_number', 'reference']);
    const trader = filledFields(event.currentTarget, Object.keys(TRADER) as (keyof typeof TRADER)[]);
    onSubmit({
      ...texts,
      vat_number: String(new FormData(event.currentTarget).get('vat_number')),
      ...(Object.keys(trader).length > 0 ? { trader } : {}),
    });
  };
  return (
    <Form ref={form} className="card stack" onBeforeSubmit={onBeforeSubmit} onSubmit={submit} aria-label="New check">
      {fieldErrors === null && <ErrorAlert error={error} />}
      <Field
        label="VAT number"
        name="vat_number"
        defaultValue={vatNumber}
        placeholder="FR 40 303 265 045"
        hint="Include the country prefix or choose the country below. Spaces and dots are ignored."
        error={fieldErrors?.vat_number}
        isRequired
        autoFocus
        autoComplete="off"
      />
      <CountrySelect fromPrefix="From the number’s prefix" />
      <Field
        label="Requester"
        name="requester_vat_number"
        hint="Your own VAT number. VIES then issues a consultation number as proof of the check."
        error={fieldErrors?.requester_vat_number}
        autoComplete="off"
      />
      <Field
        label="Reference"
        name="reference"
        hint="Your own identifier, such as an order number."
        error={fieldErrors?.reference}
        autoComplete="off"
      />
      <details>
        <summary>Compare trader details</summary>
        <div className="stack">
          <p className="hint">
            They are compared with what VIES and the registers state. The check shows a score for each of them.
          </p>
          {Object.entries(TRADER).map(([name, label]) => (
            <Field key={name} label={label} name={name} hint={HINTS[name]} autoComplete="off" />
          ))}
        </div>
      </details>
      <Button type="submit" variant="primary" isPending={isPending}>
        Check
      </Button>
    </Form>
  );
};
