import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Looks = { look?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/** Two presses within this time are one that went wrong, by whatever they were made. */
const SAME_PRESS_MS = 300;

/**
 * A button. While `isPending` it stays in place, says so, and cannot be pressed again. A double click is one click, two
 * presses in no time are one, and a key that is held presses once: here the service often answers between the two, and the
 * second would make another check or rotate a secret just shown. Whoever has typed into its form in between means it.
 */
export const Button = ({
  look = 'plain',
  small = false,
  onPress,
  ...props
}: Omit<ButtonProps, 'className' | 'onClickCapture' | 'onKeyDown'> & Looks) => {
  const clicks = useRef(0);
  const pressedAt = useRef(Number.NEGATIVE_INFINITY);
  const isMeant = (button: Element): boolean => {
    // What only folds can be folded back, and is.
    if (props['aria-expanded'] !== undefined) return true;
    const now = performance.now();
    if (now - pressedAt.current < SAME_PRESS_MS) return false;
    pressedAt.current = now;
    const forget = () => {
      pressedAt.current = Number.NEGATIVE_INFINITY;
    };
    (button as HTMLButtonElement).form?.addEventListener('input', forget, { once: true });
    return true;
  };
  // Not stopped on its way: without it React Aria would think the press unfinished and click by itself.
  const count = (event: MouseEvent) => {
    clicks.current = event.detail;
    if (event.detail > 1 || (props.type === 'submit' && !isMeant(event.currentTarget))) event.preventDefault();
  };
  return (
    <AriaButton
      {...props}
      className={`button ${look}${small ? ' small' : ''}`}
      onClickCapture={count}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.repeat) event.preventDefault();
        event.continuePropagation();
      }}
      {...(onPress && {
        onPress: (event) => {
          // A press of a key counts no clicks, so that the count is an older one's.
          const isFirst = clicks.current <= 1 || event.pointerType === 'keyboard';
          if (isFirst && isMeant(event.target)) onPress(event);
        },
      })}
    />
  );
};

const SAID_FOR_MS = 2_000;

/** Puts a text on the clipboard and says so. `what` names it to assistive technology. */
export const CopyButton = ({ text, what }: { text: string; what: string }) => {
  const [said, setSaid] = useState<'' | 'Copied' | 'Select and copy it by hand'>('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    // Over plain http, other than on this machine, browsers give pages no clipboard.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(copied ? 'Copied' : 'Select and copy it by hand');
  };
  return (
    <Button small look="quiet" aria-label={said === '' ? `Copy ${what}` : said} onPress={() => void copy()}>
      {said === '' ? 'Copy' : said}
    </Button>
  );
};
