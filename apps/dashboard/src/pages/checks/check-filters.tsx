import { type FormEvent, useEffect, useRef } from 'react';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { judgePeriod } from '../../parts/judge-period.js';

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
      judge={judgePeriod}
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
