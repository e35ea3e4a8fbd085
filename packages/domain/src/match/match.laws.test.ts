import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { MEMBER_STATES } from '../member-states.js';
import { isUnstated } from './fold-text.js';
import { matchTrader, SCORED_PARTS } from './match-trader.js';
import { readPairs } from './pairs.fixture.js';
import { parseAddress } from './parse-address.js';
import { scoreCity } from './score-city.js';
import { scoreName } from './score-name.js';
import { scorePostalCode } from './score-postal-code.js';
import { scoreStreet } from './score-street.js';

const SCORES = { scoreName, scoreStreet, scorePostalCode, scoreCity };

/** Texts as traders have them, cut and joined, beside texts of any characters. */
const pairs = readPairs('pairs.tsv');
const realText = fc.constantFrom(...pairs.flatMap(({ expected, found }) => [expected, found]));
const mixedText = fc
  .tuple(realText, realText, fc.nat(12))
  .map(([one, other, at]) => `${one.slice(0, at)} ${other.slice(at)}`);
const text = fc.oneof(anyText({ maxLength: 60 }), realText, mixedText);
const state = fc.constantFrom(...MEMBER_STATES);

describe.each(Object.entries(SCORES))('%s', (_name, score: (one: string, other: string, state?: string) => number) => {
  test('is an integer from 0 to 100 and independent of the order', () => {
    fc.assert(
      fc.property(text, text, state, (one, other, memberState) => {
        const value = score(one, other, memberState);
        expect(Number.isInteger(value) && value >= 0 && value <= 100).toBe(true);
        expect(score(other, one, memberState)).toBe(value);
      }),
      { numRuns: 400 },
    );
  });

  test('is 100 for what is stated twice, and 0 for what is not stated', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(score(one, one)).toBe(isUnstated(one) ? 0 : 100);
        expect(score(one, '---')).toBe(0);
        expect(score('', one)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('does not depend on capitals or on spaces around the text', () => {
    fc.assert(
      fc.property(realText, realText, (one, other) => {
        // Italian provinces are recognised by their capitals; ς has two capitals' forms.
        if (score === scoreCity || one.includes('ς') || other.includes('ς')) return;
        expect(Math.abs(score(` ${one.toUpperCase()} `, other) - score(one, other))).toBeLessThanOrEqual(3);
      }),
    );
  });
});

test('an address of any characters is read without an error, and its parts come from it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.array(text, { maxLength: 4 }).map((lines) => lines.join('\n')),
      ),
      state,
      (address, memberState) => {
        const { postal_code, city } = parseAddress(address, memberState);
        const flat = address.replace(/\s+/g, ' ');
        if (postal_code !== null) expect(flat).toContain(postal_code.replace(/\s+/g, ' '));
        if (city !== null) expect(flat).toContain(city);
      },
    ),
    { numRuns: 400 },
  );
});

test('the whole score lies between its parts and never above the name', () => {
  const trader = fc.record({ name: text, street: text, postal_code: text, city: text }, { requiredKeys: [] });
  const source = fc.record({ name: text, address: text, memberState: state });
  fc.assert(
    fc.property(trader, fc.array(source, { maxLength: 3 }), (given, stated) => {
      const match = matchTrader(
        given,
        stated.map((one) => ({ ...one, source: 'vies' as const })),
      );
      const scores = SCORED_PARTS.flatMap((part) => (match?.[part] ? [match[part].score] : []));
      if (scores.length === 0) expect(match?.score).toBeNull();
      else {
        expect(match?.score).toBeGreaterThanOrEqual(Math.min(...scores));
        expect(match?.score).toBeLessThanOrEqual(match?.name?.score ?? Math.max(...scores));
      }
    }),
    { numRuns: 200 },
  );
});
