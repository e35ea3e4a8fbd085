/** The 27 member states and Northern Ireland (XI), by the code VIES knows them (Greece is EL). */
export const MEMBER_STATES = [
  ...['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'EL', 'ES', 'FI', 'FR', 'HR', 'HU'],
  ...['IE', 'IT', 'LT', 'LU', 'LV', 'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK', 'XI'],
] as const;

export type MemberState = (typeof MEMBER_STATES)[number];

/** Lookups of one member state that may be in flight over the whole fleet. */
export const SLOTS_PER_MEMBER_STATE = 2;

/** True when `code` is one of {@link MEMBER_STATES} as written; does not accept aliases such as GR. */
export const isMemberState = (code: string): code is MemberState => (MEMBER_STATES as readonly string[]).includes(code);

/** The position of each member state on a map of equal tiles: column and row from 1, from the top left. Eight columns, seven rows. */
export const MAP_POSITIONS: Record<MemberState, readonly [column: number, row: number]> = {
  ...{ SE: [6, 1], FI: [7, 1] },
  ...{ XI: [2, 2], DK: [5, 2], EE: [7, 2] },
  ...{ IE: [1, 3], NL: [4, 3], DE: [5, 3], PL: [6, 3], LV: [7, 3], LT: [8, 3] },
  ...{ BE: [3, 4], LU: [4, 4], CZ: [5, 4], SK: [6, 4] },
  ...{ FR: [3, 5], AT: [5, 5], HU: [6, 5], RO: [7, 5] },
  ...{ PT: [1, 6], ES: [2, 6], IT: [4, 6], SI: [5, 6], HR: [6, 6], BG: [7, 6] },
  ...{ MT: [4, 7], EL: [7, 7], CY: [8, 7] },
};
