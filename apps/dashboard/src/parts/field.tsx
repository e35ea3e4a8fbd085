import type { ReactNode } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField, type TextFieldProps } from 'react-aria-components/TextField';

type FieldProps = Omit<TextFieldProps, 'children' | 'className'> & {
  label: string;
  hint?: ReactNode;
  placeholder?: string;
  /** What is wrong with it, in the service's words. */
  error?: string | undefined;
};

/** A text field with its label, a hint, and what is wrong with it. */
export const Field = ({ label, hint, placeholder, error, ...props }: FieldProps) => (
  <TextField {...props} isInvalid={error !== undefined} className="field">
    <Label>{label}</Label>
    <Input {...(placeholder === undefined ? {} : { placeholder })} />
    {hint !== undefined && (
      <Text slot="description" className="hint">
        {hint}
      </Text>
    )}
    <FieldError className="field-error">{error}</FieldError>
  </TextField>
);
