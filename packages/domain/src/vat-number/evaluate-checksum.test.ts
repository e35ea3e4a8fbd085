import fc from 'fast-check';
import jsvat from 'jsvat-next';
import { MEMBER_STATES, type MemberState } from '../member-states.js';
import { evaluateChecksum } from './evaluate-checksum.js';
import { readVatNumber } from './read-vat-number.js';

describe('evaluateChecksum', () => {
  test.each<[MemberState, string]>([
    ['DE', '136695976'],
    ['BE', '0428759497'],
    ['EL', '094259216'],
    ['NL', '004495445B01'],
    ['NL', '001452330B47'],
    ['IE', '6433435OA'],
    ['XI', '432525179'],
  ])('%s %s passes', (memberState, national) => {
    expect(evaluateChecksum(memberState, national)).toBe('passed');
  });

  test.each<[MemberState, string]>([
    ['DE', '136695978'],
    ['BE', '0428759498'],
    ['EL', '094259217'],
    ['NL', '123456789B14'],
    ['XI', '432525178'],
  ])('%s %s fails', (memberState, national) => {
    expect(evaluateChecksum(memberState, national)).toBe('failed');
  });

  test.each<[MemberState, string]>([
    ['FR', 'K7399859412'],
    ['FR', '4Z123456782'],
    ['XI', '432525179001'],
    ['XI', 'GD123'],
    ['SE', '556188840402'],
  ])('%s %s is of a kind without an algorithm', (memberState, national) => {
    expect(evaluateChecksum(memberState, national)).toBe('unknown');
  });

  test('a failed checksum leaves the number well-formed', () => {
    expect(readVatNumber('DE136695978')).toMatchObject({ kind: 'well_formed', checksum: 'failed' });
  });
});

// Our syntax must never be the stricter one by accident: a number refused here gets no second opinion.
describe('syntax, beside the formats of jsvat-next', () => {
  /** What the library lets through though no country issues it: Czech 11 to 13 digits, a bracket in Irish numbers. */
  const TOO_LAX = /^CZ\d{11,}$|\)/;
  const library = jsvat.countries.filter(({ codes }) =>
    MEMBER_STATES.some((code) => code === codes[0] || codes[0] === 'GR'),
  );
  const formats = library
    .flatMap(({ rules }) => rules.regex)
    .map((format) => new RegExp(format.source.replace(/\(\\\|.*\)\?/, '')));

  test('the library knows every member state', () => {
    expect(library).toHaveLength(27);
  });

  test.each(formats)('every number of %p is well-formed', (format) => {
    fc.assert(
      fc.property(fc.stringMatching(format), (number) => {
        fc.pre(!TOO_LAX.test(number));
        expect(readVatNumber(number)).toMatchObject({ kind: 'well_formed', vatNumber: number });
      }),
    );
  });
});
