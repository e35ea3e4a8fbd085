import { MEMBER_STATES } from '../member-states.js';
import { COUNTRIES } from './countries.js';
import { readVatNumber } from './read-vat-number.js';

describe('COUNTRIES', () => {
  test.each(MEMBER_STATES)(
    '%s has an example that is well-formed as written and passes its checksum',
    (memberState) => {
      const { example } = COUNTRIES[memberState];
      expect(readVatNumber(example)).toEqual({
        kind: 'well_formed',
        memberState,
        national: example.slice(2),
        vatNumber: example,
        checksum: 'passed',
      });
    },
  );

  test.each(MEMBER_STATES)('%s has a sentence that names it', (memberState) => {
    expect(COUNTRIES[memberState].form).toMatch(new RegExp(`^${memberState} numbers have .*\\.$`));
  });

  test.each(MEMBER_STATES)('%s restores zeros only where the length is known', (memberState) => {
    const { lengths, mayLackZeros, example } = COUNTRIES[memberState];
    expect(lengths.at(-1)).toBeGreaterThanOrEqual(example.length - 2);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(mayLackZeros === 0 || lengths.length === 1).toBe(true);
  });
});
