import fc from 'fast-check';
import { type ChainedStamp, describeStanding, evaluateStamps } from './evaluate-stamps.js';

const YEAR = 365 * 86_400_000;
const at = (year: number) => Date.UTC(2020, 0, 1) + (year - 2020) * YEAR;
/** An anchor stamped in one year with a certificate that expires in another. */
const anchor = (seq: number, stamped: number, until: number, more: Partial<ChainedStamp> = {}): ChainedStamp => ({
  ...{ seq, linked: true, stamp: { genTime: at(stamped), validUntil: at(until), development: false } },
  ...more,
});
const development = (stamped: number, until: number) => ({
  stamp: { genTime: at(stamped), validUntil: at(until), development: true },
});
const kindsAt = (year: number, chain: readonly ChainedStamp[]) =>
  [...evaluateStamps(chain, at(year)).anchors].sort(([a], [b]) => a - b).map(([seq, { kind }]) => `${seq} ${kind}`);

describe('the time-stamp of an anchor', () => {
  const cases: [string, ChainedStamp[], string[]][] = [
    ['is current while its certificate is valid', [anchor(1, 2024, 2031)], ['1 current']],
    ['has outlived its certificate if no later anchor exists', [anchor(1, 2024, 2026)], ['1 outlived']],
    [
      'is renewed by a later anchor that was stamped before the certificate expired',
      [anchor(1, 2024, 2026), anchor(2, 2025, 2031)],
      ['1 renewed', '2 current'],
    ],
    [
      'is renewed at the last moment of its certificate',
      [anchor(1, 2024, 2026), anchor(2, 2026, 2031)],
      ['1 renewed', '2 current'],
    ],
    [
      'is not renewed by a later anchor that was stamped after that',
      [anchor(1, 2024, 2026), anchor(2, 2027, 2031)],
      ['1 outlived', '2 current'],
    ],
    [
      'is renewed by an anchor that is renewed itself, and so on',
      [anchor(1, 2021, 2023), anchor(2, 2022, 2025), anchor(3, 2024, 2027), anchor(4, 2026, 2031)],
      ['1 renewed', '2 renewed', '3 renewed', '4 current'],
    ],
    [
      'is not renewed by an anchor that does not hold',
      [anchor(1, 2021, 2023), anchor(2, 2022, 2025), anchor(3, 2026, 2031)],
      ['1 outlived', '2 outlived', '3 current'],
    ],
    [
      'is renewed across anchors that are not stamped',
      [anchor(1, 2024, 2026), anchor(2, 2024, 2026, { stamp: null }), anchor(3, 2025, 2031)],
      ['1 renewed', '3 current'],
    ],
    [
      'is not renewed across a gap in the chain',
      [anchor(1, 2024, 2026), anchor(3, 2025, 2031, { linked: false })],
      ['1 outlived', '3 current'],
    ],
    [
      'is renewed by an anchor whose predecessor was stamped late',
      [anchor(1, 2024, 2026), anchor(2, 2028, 2031), anchor(3, 2025, 2031)],
      ['1 renewed', '2 current', '3 current'],
    ],
    [
      'is not renewed by the development authority',
      [anchor(1, 2024, 2026), anchor(2, 2025, 2055, development(2025, 2055))],
      ['1 outlived', '2 current'],
    ],
    [
      'of the development authority is renewed by any other one',
      [anchor(1, 2024, 2026, development(2024, 2026)), anchor(2, 2025, 2031)],
      ['1 renewed', '2 current'],
    ],
  ];
  it.each(cases)('%s', (_, chain, expected) => {
    expect(kindsAt(2030, chain)).toEqual(expected);
  });

  it('is described with the anchor that renews it longest, or with the reason why none does', () => {
    const first = (chain: ChainedStamp[]) => {
      const standing = evaluateStamps(chain, at(2030)).anchors.get(1);
      if (!standing || standing.kind === 'current') throw new Error('not expired');
      return describeStanding(standing);
    };
    const expired = 'the certificate of its time-stamp expired on 2025-12-30 00:00:00 UTC';
    const own = anchor(1, 2024, 2026);
    expect(first([own, anchor(2, 2024, 2026), anchor(3, 2025, 2031), anchor(4, 2029, 2031)])).toBe(
      `${expired}; anchor 3, which contains its hash, was stamped before that, on 2024-12-30 00:00:00 UTC`,
    );
    expect(first([own])).toBe(`${expired}, and no later anchor that contains its hash holds`);
    expect(first([own, anchor(2, 2028, 2031), anchor(3, 2027, 2031)])).toBe(
      `${expired}; of the later anchors that contain its hash and hold, anchor 3 was stamped first, on 2026-12-30 00:00:00 UTC, which is too late`,
    );
    expect(first([own, anchor(2, 2025, 2029)])).toBe(`${expired}, and no later anchor that contains its hash holds`);
  });

  it('has the standing that the rule gives, whatever the times and gaps', () => {
    const year = fc.integer({ min: 0, max: 12 });
    const chained = fc.record({
      stamp: fc.option(fc.record({ genTime: year, validUntil: year, development: fc.boolean() })),
      linked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(chained, { maxLength: 10 }), year, (stamps, now) => {
        const chain = stamps.map((one, index) => ({ ...one, seq: index + 1 }));
        const standings = evaluateStamps(chain, now).anchors;
        /** The rule, word by word. */
        const holds = (index: number): boolean => {
          const own = chain[index]?.stamp;
          if (!own) return false;
          if (own.validUntil >= now) return true;
          for (let later = index + 1; chain[later]?.linked; later += 1) {
            const stamp = chain[later]?.stamp;
            const counts = stamp && stamp.genTime <= own.validUntil && (own.development || !stamp.development);
            if (counts && holds(later)) return true;
          }
          return false;
        };
        for (const [index, { seq, stamp }] of chain.entries()) {
          const standing = standings.get(seq);
          expect(standing === undefined).toBe(stamp === null);
          if (standing) expect(standing.kind !== 'outlived').toBe(holds(index));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the time-stamp of a check', () => {
  const own = { genTime: at(2024), validUntil: at(2026), development: false };
  const standingIn = (chain: ChainedStamp[], anchorSeq: number | null, stamp = own) =>
    evaluateStamps(chain, at(2030)).ofCheck(stamp, anchorSeq);

  it('is renewed by its anchor or a later one, if that was stamped in time and holds', () => {
    expect(standingIn([], null, { ...own, validUntil: at(2031) })).toEqual({ kind: 'current' });
    const renewed = (seq: number) => expect.objectContaining({ kind: 'renewed', by: { seq, genTime: at(2025) } });
    expect(standingIn([anchor(1, 2025, 2031)], 1)).toEqual(renewed(1));
    expect(standingIn([anchor(1, 2027, 2031), anchor(2, 2025, 2031)], 1)).toEqual(renewed(2));
    expect(standingIn([anchor(1, 2025, 2031), anchor(2, 2025, 2031, { linked: false })], 2)).toEqual(renewed(2));
  });

  it('has outlived its certificate otherwise', () => {
    const outlived = (next: number | null) =>
      expect.objectContaining({ kind: 'outlived', next: next && expect.objectContaining({ seq: next }) });
    expect(standingIn([anchor(1, 2025, 2031)], null)).toEqual(outlived(null));
    expect(standingIn([anchor(1, 2025, 2031)], 2)).toEqual(outlived(null));
    expect(standingIn([anchor(1, 2025, 2029)], 1)).toEqual(outlived(null));
    expect(standingIn([anchor(1, 2028, 2031), anchor(2, 2027, 2031)], 1)).toEqual(outlived(2));
    expect(standingIn([anchor(1, 2028, 2031), anchor(2, 2025, 2031, { linked: false })], 1)).toEqual(outlived(1));
    expect(standingIn([anchor(1, 2025, 2055, development(2025, 2055))], 1)).toEqual(outlived(null));
  });
});
