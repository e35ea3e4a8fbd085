import { type MouseEvent, useRef } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';

type Looks = { look?: 'primary' | 'plain' | 'quiet' | 'danger'; small?: boolean };

/**
 * A button. While `isPending` it stays in place, says so, and cannot be pressed again. A double click is one click: here
 * the service often answers between the two, and the second would make another check or rotate a secret just shown.
 */
export const Button = ({
  look = 'plain',
  small = false,
  onPress,
  ...props
}: Omit<ButtonProps, 'className' | 'onClickCapture'> & Looks) => {
  const clicks = useRef(0);
  // Not stopped on its way: without it React Aria would think the press unfinished and click by itself.
  const count = (event: MouseEvent) => {
    clicks.current = event.detail;
    if (event.detail > 1) event.preventDefault();
  };
  return (
    <AriaButton
      {...props}
      className={`button ${look}${small ? ' small' : ''}`}
      onClickCapture={count}
      {...(onPress && {
        onPress: (event) => {
          // A press of a key counts no clicks, so that the count is an older one's.
          if (clicks.current <= 1 || event.pointerType === 'keyboard') onPress(event);
        },
      })}
    />
  );
};
