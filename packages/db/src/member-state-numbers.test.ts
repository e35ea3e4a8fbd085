import { MEMBER_STATES } from '@vat/domain';
import { MEMBER_STATE_NUMBERS } from './member-state-numbers.js';

test('each member state has a number of its own, and that of earlier releases', () => {
  const numbers = Object.values(MEMBER_STATE_NUMBERS);
  expect(new Set(numbers).size).toBe(numbers.length);
  // In releases before these numbers, locks were numbered by the position in this list.
  const LIST_OF_EARLIER_RELEASES =
    'AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK XI'.split(' ');
  for (const [position, memberState] of LIST_OF_EARLIER_RELEASES.entries())
    expect(MEMBER_STATE_NUMBERS).toHaveProperty(memberState, position);
  expect(Object.keys(MEMBER_STATE_NUMBERS).sort()).toEqual([...MEMBER_STATES].sort());
});
