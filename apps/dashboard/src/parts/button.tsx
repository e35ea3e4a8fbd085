import { useEffect, useState } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Variant = { variant?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/** A button. While `isPending` it announces that and cannot be pressed. */
export const Button = ({ variant = 'plain', small = false, ...props }: Omit<ButtonProps, 'className'> & Variant) => (
  <AriaButton {...props} className={`button ${variant}${small ? ' small' : ''}`} />
);

const FEEDBACK_MS = 2_000;

/** Copies a text to the clipboard and confirms it. `what` is its accessible name. */
export const CopyButton = ({ text, what }: { text: string; what: string }) => {
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
    <Button small variant="quiet" aria-label={feedback === '' ? `Copy ${what}` : feedback} onPress={() => void copy()}>
      {feedback === '' ? 'Copy' : feedback}
    </Button>
  );
};
