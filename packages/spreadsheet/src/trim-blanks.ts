import { isBlank } from './is-blank.js';

/** The text without blanks of any kind, visible to nobody, at its ends. Linear, unlike a pattern anchored at the end. */
export const trimBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charAt(start))) start += 1;
  while (end > start && isBlank(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
};
