import jsvat from 'jsvat-next';
import type { MemberState } from '../member-states.js';

/** `unknown`: the library has no algorithm for this kind of number. */
export type Checksum = 'passed' | 'failed' | 'unknown';

// Only checksums are taken from the library. Its formats are not ours: they refuse Northern Irish branch and government
// numbers, Swedish numbers not ending in 01 and Slovak ones by their third digit, and let Czech ones of 13 digits pass.
const ALGORITHMS: Readonly<Record<MemberState, (typeof jsvat.countries)[number]>> = {
  AT: jsvat.austria,
  BE: jsvat.belgium,
  BG: jsvat.bulgaria,
  CY: jsvat.cyprus,
  CZ: jsvat.czechRepublic,
  DE: jsvat.germany,
  DK: jsvat.denmark,
  EE: jsvat.estonia,
  EL: jsvat.greece,
  ES: jsvat.spain,
  FI: jsvat.finland,
  FR: jsvat.france,
  HR: jsvat.croatia,
  HU: jsvat.hungary,
  IE: jsvat.ireland,
  IT: jsvat.italy,
  LT: jsvat.lithuania,
  LU: jsvat.luxembourg,
  LV: jsvat.latvia,
  MT: jsvat.malta,
  NL: jsvat.netherlands,
  PL: jsvat.poland,
  PT: jsvat.portugal,
  RO: jsvat.romania,
  SE: jsvat.sweden,
  SI: jsvat.slovenia,
  SK: jsvat.slovakiaRepublic,
  XI: jsvat.unitedKingdom,
};

/** A French key with a letter; the library reports such numbers as valid without evaluating them. */
const FRENCH_LETTER_KEY = /^(?:[A-Z]|\d[A-Z])/;

/**
 * Evaluates the published check digits of a well-formed number. A note for the reader, never a verdict: real numbers fail
 * published checksums.
 */
export const evaluateChecksum = (memberState: MemberState, national: string): Checksum => {
  if (memberState === 'FR' && FRENCH_LETTER_KEY.test(national)) return 'unknown';
  const { isValid, isValidFormat } = jsvat.checkVAT(memberState + national, [ALGORITHMS[memberState]]);
  if (!isValidFormat) return 'unknown';
  return isValid ? 'passed' : 'failed';
};
