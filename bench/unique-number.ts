import { COUNTRIES, MEMBER_STATES, type MemberState } from '@vat/domain';

const COUNTER_DIGITS = 5;

/**
 * The n-th well-formed number of a member state (n below 100 000), so that every lookup can be found in the upstream's
 * journal: the country's example with a counter after its first digit, where the syntax of no country restricts the digits.
 */
export const uniqueNumber = (memberState: MemberState, n: number): string => {
  const { example, pattern } = COUNTRIES[memberState];
  const national = example.slice(2);
  const [longest = ''] = (national.match(/\d+/g) ?? []).toSorted((a, b) => b.length - a.length);
  const at = national.indexOf(longest) + 1;
  const counted = national.slice(0, at) + String(n).padStart(COUNTER_DIGITS, '0') + national.slice(at + COUNTER_DIGITS);
  if (!pattern.test(counted)) throw new Error(`${memberState}${counted} is not a number of ${memberState}`);
  return memberState + counted;
};

/** The member state of the n-th of many numbers that alternate over all member states. */
export const stateAt = (n: number): MemberState => MEMBER_STATES[n % MEMBER_STATES.length] ?? 'DE';

/** The n-th of many numbers that alternate over all member states. `from`: skips so many numbers of each. */
export const numberAt = (n: number, from = 0): string =>
  uniqueNumber(stateAt(n), from + Math.floor(n / MEMBER_STATES.length));
