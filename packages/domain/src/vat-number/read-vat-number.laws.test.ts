import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { MEMBER_STATES } from '../member-states.js';
import { COUNTRIES } from './countries.js';
import { readCountryCode } from './country.js';
import { readVatNumber } from './read-vat-number.js';

const RUNS = { numRuns: 1_000 };
const SEPARATORS = [
  ' ',
  '\u00A0',
  '\u202F',
  '\t',
  '-',
  '\u2013',
  '\u2212',
  '.',
  '/',
  '_',
  ':',
  ',',
  ';',
  "'",
  '(',
  ')',
  '\u2019',
  '\u00B4',
  '\u200B',
  '\uFEFF',
  '\u007F',
  '\uD800',
];

const memberState = fc.constantFrom(...MEMBER_STATES);
const LABELS = [
  'VAT',
  'VAT No.',
  'VAT ID:',
  'UID',
  'USt-IdNr.',
  'TVA',
  'N° TVA',
  'P.IVA',
  'NIF',
  'NIP',
  'BTW-nr',
  'CVR',
  'Moms',

  'ΑΦΜ',
];
const country = fc.option(fc.oneof(memberState, fc.constantFrom('GR', 'gr', 'GB', 'CH', ''), fc.string()), {
  nil: undefined,
});
/** Numbers in the form of their country, whatever their checksum. Made once: reading a pattern takes longer than a number. */
const issued = fc.oneof(
  ...MEMBER_STATES.map((code) =>
    fc.stringMatching(COUNTRIES[code].pattern).map((national) => ({ code, national, number: code + national })),
  ),
);
/** Close enough to a number that every branch is reached: a prefix, then digits, letters and now and then anything. */
const nearly = fc
  .tuple(
    fc.oneof(memberState, fc.constantFrom('GR', 'GB', 'EU', 'CH', 'U', 'B', '', ...LABELS, 'VAT DE')),
    fc.array(
      fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...'0123456789') },
        { weight: 2, arbitrary: fc.constantFrom(...'ABUWX+*') },
        anyText({ maxLength: 1 }),
        fc.constantFrom(...SEPARATORS),
      ),
      { maxLength: 14 },
    ),
  )
  .map(([prefix, rest]) => prefix + rest.join(''));
/** UTF-16 code units in any order, so with lone surrogates. */
const anything = fc.array(fc.nat(0xffff), { maxLength: 60 }).map((units) => String.fromCharCode(...units));
const text = fc.oneof(
  nearly,
  nearly,
  anything,
  anyText(),
  issued.map(({ number }) => number),
);

/** `number` in mixed case with a separator before, between and after its characters, as `choices` say. */
const scatter = (number: string, choices: readonly number[]): string =>
  [...number]
    .map((character, index) => {
      const choice = choices[index % choices.length] ?? 0;
      const cased = choice % 2 === 0 ? character : character.toLowerCase();
      return (SEPARATORS[choice % (SEPARATORS.length * 2)] ?? '') + cased;
    })
    .join('');

describe('readVatNumber, whatever it is given', () => {
  test('never throws, and answers in one of its three forms', () => {
    fc.assert(
      fc.property(text, country, (input, countryCode) => {
        const read = readVatNumber(input, countryCode);
        if (read.kind === 'unresolvable') {
          expect(read.reason).toMatch(/^[ -~]+[.]$/);
          return;
        }
        expect(read.vatNumber).toBe(read.memberState + read.national);
        expect(read.vatNumber).toMatch(/^[A-Z0-9+*?]{2,40}$/);
        if (read.kind === 'well_formed') expect(read.national).toMatch(/^[A-Z0-9+*]{2,12}$/);
      }),
      RUNS,
    );
  });

  test('reading a vatNumber again gives the same, with and without its country_code', () => {
    fc.assert(
      fc.property(text, country, (input, countryCode) => {
        const read = readVatNumber(input, countryCode);
        if (read.kind === 'unresolvable') return;
        expect(readVatNumber(read.vatNumber)).toEqual(read);
        expect(readVatNumber(read.vatNumber, read.memberState)).toEqual(read);
      }),
      RUNS,
    );
  });
});

describe('readVatNumber on numbers in the form of their country', () => {
  test('leaves them as they are', () => {
    fc.assert(
      fc.property(issued, ({ code, national, number }) => {
        expect(readVatNumber(number)).toMatchObject({
          kind: 'well_formed',
          memberState: code,
          national,
          vatNumber: number,
        });
      }),
      RUNS,
    );
  });

  test('separators and case make no difference', () => {
    const choices = fc.array(fc.nat(997), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(
        fc.oneof(
          issued.map(({ number }) => number),
          fc.stringMatching(/^[A-Z]{2}[A-Z0-9]{0,14}$/),
        ),
        choices,
        (number, chosen) => {
          expect(readVatNumber(scatter(number, chosen))).toEqual(readVatNumber(number));
        },
      ),
      RUNS,
    );
  });

  test('a label in front makes no difference, with a prefix or a country_code behind it', () => {
    fc.assert(
      fc.property(
        issued,
        fc.constantFrom(...LABELS),
        fc.constantFrom(' ', ': ', ''),
        ({ code, national, number }, label, gap) => {
          const read = readVatNumber(number);
          expect(readVatNumber(label + gap + number)).toEqual(read);
          fc.pre(code !== 'FR' || readCountryCode(national.slice(0, 2)) === null);
          expect(readVatNumber(label + gap + national, code)).toEqual(read);
        },
      ),
      RUNS,
    );
  });

  test('a prefix and a country_code mean the same', () => {
    fc.assert(
      fc.property(issued, ({ code, national, number }) => {
        const read = readVatNumber(number);
        expect(readVatNumber(number, code.toLowerCase())).toEqual(read);
        // A French key of two letters may spell another country: read as a contradiction, tested with resolveCountry.
        fc.pre(code !== 'FR' || readCountryCode(national.slice(0, 2)) === null);
        expect(readVatNumber(national, code)).toEqual(read);
      }),
      RUNS,
    );
  });

  test('up to as many lost zeros as the country allows come back, and no more', () => {
    const zeroed = fc
      .tuple(
        issued.filter(({ code }) => COUNTRIES[code].mayLackZeros > 0),
        fc.integer({ min: 1, max: 4 }),
      )
      .map(([{ code, national }, zeros]) => ({ code, zeros, shortened: national.slice(zeros) }))
      .map((lost) => ({ ...lost, national: '0'.repeat(lost.zeros) + lost.shortened }))
      .filter(({ code, national, shortened }) => COUNTRIES[code].pattern.test(national) && /^\d/.test(shortened));
    fc.assert(
      fc.property(zeroed, ({ code, zeros, national, shortened }) => {
        const whole = readVatNumber(code + national);
        expect(whole).toMatchObject({ kind: 'well_formed', national });
        const read = readVatNumber(code + shortened);
        if (zeros <= COUNTRIES[code].mayLackZeros) expect(read).toEqual(whole);
        else expect(read).toMatchObject({ kind: 'malformed', national: shortened });
      }),
      RUNS,
    );
  });

  test('one digit more is malformed, unless the country has numbers of that length', () => {
    const single = issued.filter(({ code }) => COUNTRIES[code].lengths.length === 1);
    fc.assert(
      fc.property(single, fc.constantFrom(...'0123456789'), ({ number }, digit) => {
        expect(readVatNumber(number + digit).kind).toBe('malformed');
      }),
      RUNS,
    );
  });
});

test('readVatNumber takes less than 50 µs of the processor a number', () => {
  const numbers = fc.sample(text, { numRuns: 1_000, seed: 1 });
  const rounds = 5;
  for (const number of numbers) readVatNumber(number);
  // Not the time that passes, in which other processes may have the processor.
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) for (const number of numbers) readVatNumber(number);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / (rounds * numbers.length)).toBeLessThan(50);
});
