import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Variant = { variant?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/** Presses within this time of the last one are accidental. */
const SAME_PRESS_MS = 300;

/**
 * A button. While `isPending` it announces that and cannot be pressed. A double click, two presses within
 * {@link SAME_PRESS_MS} and a held key count as one press: the service often responds in between, and the second press would
 * create another check or rotate a new secret. Input into the form in between makes the next press count.
 */
export const Button = ({
  variant = 'plain',
  small = false,
  onPress,
  ...props
}: Omit<ButtonProps, 'className' | 'onClickCapture' | 'onKeyDown'> & Variant) => {
  const clicks = useRef(0);
  const pressedAt = useRef(Number.NEGATIVE_INFINITY);
  const isIntended = (button: Element): boolean => {
    // Toggles can be pressed repeatedly without harm.
    if (props['aria-expanded'] !== undefined) return true;
    const now = performance.now();
    if (now - pressedAt.current < SAME_PRESS_MS) return false;
    pressedAt.current = now;
    const reset = () => {
      pressedAt.current = Number.NEGATIVE_INFINITY;
    };
    (button as HTMLButtonElement).form?.addEventListener('input', reset, { once: true });
    return true;
  };
  // Propagation continues: otherwise React Aria treats the press as unfinished and triggers a click.
  const count = (event: MouseEvent) => {
    clicks.current = event.detail;
    if (event.detail > 1 || (props.type === 'submit' && !isIntended(event.currentTarget))) event.preventDefault();
  };
  return (
    <AriaButton
      {...props}
      className={`button ${variant}${small ? ' small' : ''}`}
      onClickCapture={count}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.repeat) event.preventDefault();
        event.continuePropagation();
      }}
      {...(onPress && {
        onPress: (event) => {
          // Key presses do not update the click count.
          const isFirst = clicks.current <= 1 || event.pointerType === 'keyboard';
          if (isFirst && isIntended(event.target)) onPress(event);
        },
      })}
    />
  );
};

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
