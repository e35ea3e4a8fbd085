import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button.js';
import { Form, filledFields, validatePeriod } from './form.js';

type FilterFormProps<Name extends string> = {
  /** The names of the fields in `children`, which are also the search parameters of the page. */
  names: readonly Name[];
  filters: { [K in Name]?: string };
  onChange: (filters: { [K in Name]?: string }) => void;
  /** The fields, with the filters as their default values. */
  children: ReactNode;
};

/** The filters of a list. What is chosen in a `Select` applies at once, together with what was typed in the other fields. */
export const FilterForm = <Name extends string>({ names, filters, onChange, children }: FilterFormProps<Name>) => {
  const form = useRef<HTMLFormElement>(null);
  const content = JSON.stringify(filters);
  // Clearing and navigation change the filters, and the fields must follow. Setting `value` would not do for a `Field`, which
  // shows the text in its state again with its next render.
  useEffect(() => {
    const texts = JSON.parse(content) as Record<string, string>;
    form.current?.reset();
    for (const select of form.current?.querySelectorAll('select') ?? []) select.value = texts[select.name] ?? '';
  }, [content]);
  const clear = () => {
    // Without filters the button is gone. Keyboard users would start again at the top of the page.
    form.current?.querySelector<HTMLElement>('button[type=submit]')?.focus();
    onChange({});
  };
  return (
    <Form
      ref={form}
      aria-label="Filter"
      className="filters"
      validate={validatePeriod}
      onChange={({ target, currentTarget }) => {
        if (target instanceof HTMLSelectElement) currentTarget.requestSubmit();
      }}
      onSubmit={({ currentTarget }) => onChange(filledFields(currentTarget, names))}
    >
      {children}
      <div className="actions">
        <Button type="submit">Filter</Button>
        {Object.keys(filters).length > 0 && (
          <Button variant="quiet" onPress={clear}>
            Clear
          </Button>
        )}
      </div>
    </Form>
  );
};
