/** The 27 member states and Northern Ireland (XI), by the code VIES knows them (Greece is EL). */
export const MEMBER_STATES = [
  'AT',
  'BE',
  'BG',
  'CY',
  'CZ',
  'DE',
  'DK',
  'EE',
  'EL',
  'ES',
  'FI',
  'FR',
  'HR',
  'HU',
  'IE',
  'IT',
  'LT',
  'LU',
  'LV',
  'MT',
  'NL',
  'PL',
  'PT',
  'RO',
  'SE',
  'SI',
  'SK',
  'XI',
] as const;

/** A code of {@link MEMBER_STATES}. */
export type MemberState = (typeof MEMBER_STATES)[number];

/** Lookups of one member state that may be in flight over the whole fleet. */
export const SLOTS_PER_MEMBER_STATE = 2;

/** True when `code` is one of {@link MEMBER_STATES} as written; does not accept aliases such as GR. */
export const isMemberState = (code: string): code is MemberState => (MEMBER_STATES as readonly string[]).includes(code);
