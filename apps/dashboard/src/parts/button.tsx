import { useEffect, useState } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Variant = { variant?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/** A button. While `isPending` it announces that and cannot be pressed. */
export const Button = ({ variant = 'plain', small = false, ...props }: Omit<ButtonProps, 'className'> & Variant) => (
  <AriaButton {...props} className={`button ${variant}${small ? ' small' : ''}`} />
);

const FEEDBACK_MS = 2_000;

type CopyButtonProps = { text: string; what: string; label?: string };

/** Copies a text to the clipboard and confirms it. `what` names the text for screen readers, a `label` for everybody. */
export const CopyButton = ({ text, what, label }: CopyButtonProps) => {
  const [feedback, setFeedback] = useState<'' | 'Copied' | 'Select and copy manually'>('');
  useEffect(() => {
    if (feedback === '') return;
    const timer = setTimeout(() => setFeedback(''), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [feedback]);
  const copy = async () => {
    // Browsers provide no clipboard over plain http, except on localhost.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setFeedback(copied ? 'Copied' : 'Select and copy manually');
  };
  return (
    <Button
      small={label === undefined}
      variant={label === undefined ? 'quiet' : 'plain'}
      aria-label={feedback === '' ? (label ?? `Copy ${what}`) : feedback}
      onPress={() => void copy()}
    >
      {feedback === '' ? (label ?? 'Copy') : feedback}
    </Button>
  );
};
