import type { MemberState } from '../member-states.js';
import { COUNTRIES } from './countries.js';

/** An Austrian number without its U: VIES counts the U as part of the number, many invoices leave it out. */
const AUSTRIAN_DIGITS = /^\d{8}$/;

const restore = (memberState: MemberState, text: string): string => {
  if (memberState === 'AT' && AUSTRIAN_DIGITS.test(text)) return `U${text}`;
  const { lengths, mayLackZeros } = COUNTRIES[memberState];
  const [length, otherLength] = lengths;
  if (length === undefined || otherLength !== undefined) return text;
  const missing = length - text.length;
  return missing > 0 && missing <= mayLackZeros && /^\d/.test(text) ? text.padStart(length, '0') : text;
};

/**
 * The national part in its full form (lost leading zeros and the Austrian U put back) when cleaned `text` fits the
 * syntax of `memberState`, else null. Evaluates syntax only, never a checksum.
 */
export const fitNational = (memberState: MemberState, text: string): string | null => {
  const national = restore(memberState, text);
  return COUNTRIES[memberState].pattern.test(national) ? national : null;
};
