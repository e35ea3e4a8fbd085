import { MEMBER_STATES } from '@vat/domain/member-states';
import {
  type ChangeEvent,
  type ComponentProps,
  createContext,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useId,
  useState,
} from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField, type TextFieldProps } from 'react-aria-components/TextField';
import { countryName } from './format.js';

/** A problem that prevents submission: the id of the input and a message. Null when there is none. */
type FieldProblem = { id: string; text: string } | null;

/** Passes the problem from the form to its field. */
const FormContext = createContext<FieldProblem>(null);

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  /** Called for valid input. The default submission is prevented. */
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** Called on each submission before validation, to clear the results of the last one. */
  onBeforeSubmit?: () => void;
  /** Validation across fields, after each field is valid. */
  validate?: (form: HTMLFormElement) => FieldProblem;
};

const problemOf = (input: HTMLInputElement): string | null => {
  const name = input.labels?.[0]?.textContent ?? '';
  // Only a password may consist of blanks.
  const text = input.type === 'password' ? input.value : input.value.trim();
  // An incomplete date has an empty value, which would mean no date.
  if (input.validity.badInput) return `${name} is not a complete date.`;
  if (text === '') return input.getAttribute('aria-required') === 'true' ? `${name} is required.` : null;
  if (input.validity.typeMismatch) return `${name} is not a valid e-mail address.`;
  if (text.length < input.minLength) return `${name} must have at least ${input.minLength} characters.`;
  return null;
};

const firstProblem = (form: HTMLFormElement): FieldProblem => {
  for (const input of form.elements) {
    const text = input instanceof HTMLInputElement ? problemOf(input) : null;
    if (text !== null) return { id: input.id, text };
  }
  return null;
};

/** Prevents a held Enter key from submitting the form repeatedly. */
const ignoreKeyRepeat = (event: KeyboardEvent): void => {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
};

/**
 * A form that shows validation messages beside the field and as alerts, instead of the messages of the browser, which
 * disappear and differ between browsers. It reports one field at a time and focuses it.
 */
export const Form = ({ onSubmit, onBeforeSubmit, validate, children, ...props }: FormProps) => {
  const [problem, setProblem] = useState<FieldProblem>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = firstProblem(event.currentTarget) ?? validate?.(event.currentTarget) ?? null;
    setProblem(found);
    onBeforeSubmit?.();
    if (found) document.getElementById(found.id)?.focus();
    else onSubmit(event);
  };
  return (
    <form {...props} noValidate onSubmit={submit} onReset={() => setProblem(null)} onKeyDownCapture={ignoreKeyRepeat}>
      <FormContext value={problem}>{children}</FormContext>
    </form>
  );
};

/** The trimmed values of the named fields of a form, without empty ones. Times are those of UTC. */
export const filledFields = <Name extends string>(
  form: HTMLFormElement,
  names: readonly Name[],
): { [K in Name]?: string } => {
  const fields = new FormData(form);
  const values = names.map((name) => {
    const text = String(fields.get(name) ?? '').trim();
    const input = form.elements.namedItem(name);
    if (text === '' || !(input instanceof HTMLInputElement) || input.type !== 'datetime-local') return [name, text];
    // Browsers leave out seconds that are zero.
    return [name, `${text.length === 'YYYY-MM-DDThh:mm'.length ? `${text}:00` : text}Z`];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== '')) as { [K in Name]?: string };
};

/** Validates that the input `to` of a form, which is exclusive, is later than `from`. Null when the period is valid. */
export const validatePeriod = (form: HTMLFormElement): FieldProblem => {
  const { from, to } = filledFields(form, ['from', 'to']);
  if (!from || !to || Date.parse(from) < Date.parse(to)) return null;
  return { id: form.querySelector('[name=to]')?.id ?? '', text: 'Before must be later than From.' };
};

type FieldProps = Omit<TextFieldProps, 'children' | 'className' | 'id'> & {
  label: string;
  hint?: ReactNode;
  placeholder?: string;
  /** The error message of the service. */
  error?: string | undefined;
};

/** A text field with a label, a hint, and an error of the service or of the surrounding form. */
export const Field = ({ label, hint, placeholder, error, ...props }: FieldProps) => {
  const id = useId();
  const problem = useContext(FormContext);
  const message = problem?.id === id ? problem.text : error;
  return (
    <TextField {...props} id={id} validationBehavior="aria" isInvalid={message !== undefined} className="field">
      <Label>{label}</Label>
      <Input {...(placeholder === undefined ? {} : { placeholder })} />
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {message !== undefined && (
        <div role="alert">
          <FieldError className="field-error">{message}</FieldError>
        </div>
      )}
    </TextField>
  );
};

const PERIOD = { from: 'From (UTC)', to: 'Before (UTC)' } as const;

/** The fields of a period in UTC. `period`: dates, or times as RFC 3339 writes them; `to` is exclusive. */
export const PeriodFields = ({ period = {} }: { period?: { [K in keyof typeof PERIOD]?: string } }) =>
  (['from', 'to'] as const).map((name) => {
    const at = new Date(period[name] ?? '');
    const [day = '', time] = Number.isNaN(at.getTime()) ? [] : at.toISOString().split('T');
    // A date says the same as the first moment of that day, and is easier to change.
    const isDay = time === undefined || time === '00:00:00.000Z';
    return (
      <Field
        key={`${name} ${isDay}`}
        label={PERIOD[name]}
        name={name}
        type={isDay ? 'date' : 'datetime-local'}
        defaultValue={isDay ? day : `${day}T${time.replace(/(:00)?(\.000)?Z$/, '')}`}
      />
    );
  });

/** The password that a new user chooses. */
export const NewPassword = ({ autoFocus = false }: { autoFocus?: boolean }) => (
  <Field
    label="Password"
    name="password"
    type="password"
    autoComplete="new-password"
    minLength={12}
    hint="Use at least 12 characters, such as a few words."
    isRequired
    autoFocus={autoFocus}
  />
);

type CheckboxProps = { label: string; hint: string; isSelected: boolean; onChange: (isSelected: boolean) => void };

/** A checkbox with a label and a hint. */
export const Checkbox = ({ label, hint, ...choice }: CheckboxProps) => {
  const id = useId();
  return (
    <div className="choice">
      <AriaCheckbox {...choice} className="checkbox" aria-describedby={id}>
        <span className="checkbox-box" aria-hidden="true" />
        {label}
      </AriaCheckbox>
      <p id={id} className="hint">
        {hint}
      </p>
    </div>
  );
};

type SelectProps<T extends string> = {
  label: string;
  options: readonly { value: T; label: string }[];
  /** Shows the label only to assistive technology. */
  hideLabel?: boolean;
} & ({ value: T; onChange: (value: T) => void } | { name: string; defaultValue?: T });

/** A native select, which phones render in their own style. With a `name` it belongs to its form, like a `Field`. */
export const Select = <T extends string>({ label, options, hideLabel, ...choice }: SelectProps<T>) => {
  const id = useId();
  const native =
    'onChange' in choice
      ? {
          value: choice.value,
          onChange: (event: ChangeEvent<HTMLSelectElement>) => choice.onChange(event.target.value as T),
        }
      : choice;
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select id={id} {...native}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
};

/** The field `country_code` of a form with a VAT number. `fromPrefix`: what choosing none is called. */
export const CountrySelect = ({ fromPrefix }: { fromPrefix: string }) => (
  <Select
    label="Country"
    name="country_code"
    options={[
      { value: '', label: fromPrefix },
      ...MEMBER_STATES.map((code) => ({ value: code, label: `${code} · ${countryName(code)}` })),
    ]}
  />
);
