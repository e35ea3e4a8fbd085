import {
  type ComponentProps,
  createContext,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useId,
  useState,
} from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField, type TextFieldProps } from 'react-aria-components/TextField';

/** What keeps a form from being sent: the id of the input and what is wrong with it. Null when nothing does. */
export type Unsuitable = { id: string; text: string } | null;

/** Carries what is wrong from a form to its field. */
const FormContext = createContext<Unsuitable>(null);

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  /** Called for what can be sent; the browser's own sending is prevented. */
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** Called for each try before it is judged: what the one before has left on the page has to go. */
  onTry: () => void;
  /** What is wrong although each field is fit. */
  judge?: (form: HTMLFormElement) => Unsuitable;
};

const wrongWith = (input: HTMLInputElement): string | null => {
  const name = input.labels?.[0]?.textContent ?? '';
  // Blanks can be a password, and nothing else.
  const text = input.type === 'password' ? input.value : input.value.trim();
  // What is there of it counts as nothing, which would be another choice.
  if (input.validity.badInput) return `${name} is not a complete date.`;
  if (text === '') return input.getAttribute('aria-required') === 'true' ? `${name} is required.` : null;
  if (input.validity.typeMismatch) return `${name} is not an e-mail address.`;
  if (text.length < input.minLength) return `${name} needs at least ${input.minLength} characters.`;
  return null;
};

const firstUnsuitable = (form: HTMLFormElement): Unsuitable => {
  for (const input of form.elements) {
    const text = input instanceof HTMLInputElement ? wrongWith(input) : null;
    if (text !== null) return { id: input.id, text };
  }
  return null;
};

/** Enter in a field presses the form's button; held, it would press it over and over. */
const pressOnce = (event: KeyboardEvent): void => {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
};

/**
 * A form that says itself, beside the field and as an alert, what the browser would say in a bubble that is soon gone and
 * looks and reads differently everywhere. Like the bubble it names one field at a time and leads there.
 */
export const Form = ({ onSubmit, onTry, judge, children, ...props }: FormProps) => {
  const [unfit, setUnsuitable] = useState<Unsuitable>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // While its button is pending a form has none to submit with; Enter in its only field would send it again all the same.
    if (!event.currentTarget.querySelector('[type=submit]')) return;
    const found = firstUnsuitable(event.currentTarget) ?? judge?.(event.currentTarget) ?? null;
    setUnsuitable(found);
    onTry();
    if (found) document.getElementById(found.id)?.focus();
    else onSubmit(event);
  };
  return (
    <form {...props} noValidate onSubmit={submit} onKeyDownCapture={pressOnce}>
      <FormContext value={unfit}>{children}</FormContext>
    </form>
  );
};

type FieldProps = Omit<TextFieldProps, 'children' | 'className' | 'id'> & {
  label: string;
  hint?: ReactNode;
  placeholder?: string;
  /** What is wrong with it, in the service's words. */
  error?: string | undefined;
};

/** A text field with its label, a hint, and what is wrong with it: by `error`, or by the form around it. */
export const Field = ({ label, hint, placeholder, error, ...props }: FieldProps) => {
  const id = useId();
  const unfit = useContext(FormContext);
  const wrong = unfit?.id === id ? unfit.text : error;
  return (
    <TextField {...props} id={id} validationBehavior="aria" isInvalid={wrong !== undefined} className="field">
      <Label>{label}</Label>
      <Input {...(placeholder === undefined ? {} : { placeholder })} />
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {wrong !== undefined && (
        <div role="alert">
          <FieldError className="field-error">{wrong}</FieldError>
        </div>
      )}
    </TextField>
  );
};

type ChoiceProps<T extends string> = {
  label: string;
  value: T;
  options: readonly { value: T; label: string; disabled?: boolean }[];
  onChange: (value: T) => void;
  /** The label is for assistive technology alone: the place says it to everybody else. */
  hideLabel?: boolean;
  disabled?: boolean;
};

/** One of a few, by the browser's own list, which telephones show as they always do. */
export const Choice = <T extends string>({ label, value, options, onChange, hideLabel, disabled }: ChoiceProps<T>) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'for-reader' : undefined}>
        {label}
      </label>
      <select id={id} value={value} disabled={disabled} onChange={(event) => onChange(event.target.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
};
