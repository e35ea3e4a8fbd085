import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Looks = { look?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/** A button. While `isPending` it stays in place, says so, and cannot be pressed again. */
export const Button = ({ look = 'plain', small = false, ...props }: Omit<ButtonProps, 'className'> & Looks) => (
  <AriaButton {...props} className={`button ${look}${small ? ' small' : ''}`} />
);
