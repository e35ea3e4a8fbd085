import { type ComponentProps, type FormEvent, type KeyboardEvent, useState } from 'react';
import { FormContext, type Unfit } from './form-context.js';

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  /** Called for what can be sent; the browser's own sending is prevented. */
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** Called for each try before it is judged: what the one before has left on the page has to go. */
  onTry: () => void;
  /** What is wrong although each field is fit. */
  judge?: (form: HTMLFormElement) => Unfit;
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

const firstUnfit = (form: HTMLFormElement): Unfit => {
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
  const [unfit, setUnfit] = useState<Unfit>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // While its button is pending a form has none to submit with; Enter in its only field would send it again all the same.
    if (!event.currentTarget.querySelector('[type=submit]')) return;
    const found = firstUnfit(event.currentTarget) ?? judge?.(event.currentTarget) ?? null;
    setUnfit(found);
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
