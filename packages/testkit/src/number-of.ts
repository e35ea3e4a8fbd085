/** Digits of a member state's number after its prefix; only states whose syntax is plain digits. */
const DIGITS = {
  DE: 9,
  IT: 11,
  PL: 10,
  FI: 8,
  DK: 8,
  EE: 9,
  HU: 8,
  LU: 8,
  MT: 8,
  SI: 8,
  SK: 10,
  PT: 9,
  EL: 9,
  HR: 11,
  LV: 11,
  FR: 11,
} as const;

/** The member states that {@link numberOf} can make numbers of. */
export const NUMBERED_STATES = Object.keys(DIGITS) as (keyof typeof DIGITS)[];

/** The n-th number of a member state: well formed (its checksum rarely fits, which the service only notes), with prefix. */
export const numberOf = (state: keyof typeof DIGITS, n: number): string => {
  const length = DIGITS[state];
  return `${state}${String(10 ** (length - 1) + (n % 10 ** (length - 2)))}`;
};
