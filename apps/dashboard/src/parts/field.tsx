import { type ReactNode, useContext, useId } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField, type TextFieldProps } from 'react-aria-components/TextField';
import { FormContext } from './form-context.js';

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
