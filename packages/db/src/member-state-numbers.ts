import type { MemberState } from '@vat/domain';

/**
 * The number of each member state in advisory locks. Two releases that run side by side must use the same numbers, or each of
 * them would grant two slots: a number is never changed and never used again, and a new member state gets the next one. They
 * do not follow from the order of `MEMBER_STATES`, which may change.
 */
export const MEMBER_STATE_NUMBERS: Readonly<Record<MemberState, number>> = {
  ...{ AT: 0, BE: 1, BG: 2, CY: 3, CZ: 4, DE: 5, DK: 6, EE: 7, EL: 8, ES: 9 },
  ...{ FI: 10, FR: 11, HR: 12, HU: 13, IE: 14, IT: 15, LT: 16, LU: 17, LV: 18, MT: 19 },
  ...{ NL: 20, PL: 21, PT: 22, RO: 23, SE: 24, SI: 25, SK: 26, XI: 27 },
};
