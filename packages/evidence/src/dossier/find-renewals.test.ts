import { type Anchor, encodeAnchor } from '../anchor/anchor.js';
import { closeAnchor } from '../anchor/close-anchor.js';
import { type DatedAuthority, makeDatedAuthority } from '../timestamp/dated-authority.fixture.js';
import type { DossierAnchor } from './dossier-source.js';
import { findRenewals, type StampedCheck } from './find-renewals.js';

const day = (text: string) => new Date(`${text}T12:00:00.000Z`);
const authority = (name: string, to: string) => makeDatedAuthority(name, { from: day('2020-01-01'), to: day(to) });
const early = authority('Early', '2025-12-31');
const middle = authority('Middle', '2027-12-31');
const late = authority('Late', '2035-12-31');

/** A chain of which every anchor is stamped by the given authority on that day. */
const renewalsIn = (stamps: readonly (readonly [DatedAuthority, string])[], trusted = [early, middle, late]) => {
  const rows: (DossierAnchor & { by: DatedAuthority; on: Date })[] = [];
  let previous: Anchor | null = null;
  for (const [by, on] of stamps) {
    const anchor: Anchor = closeAnchor({ previous, size: 1, root: Buffer.alloc(32), closedAt: day('2024-01-01') });
    const body = encodeAnchor(anchor);
    rows.push({ seq: anchor.seq, body, token: by.stamp(body, day(on)), by, on: day(on) });
    previous = anchor;
  }
  const find = findRenewals({
    readAnchors: async (seqs) => rows.filter(({ seq }) => seqs.includes(seq)),
    lastStamped: async (after, at) =>
      [early, middle, late].flatMap(
        (by) => rows.findLast((row) => row.by === by && row.seq > after && row.on <= at)?.seq ?? [],
      ),
    trustedRoots: trusted.map(({ root }) => root),
  });
  return (seqs: readonly number[], now: string, checks: readonly StampedCheck[] = []) => find(seqs, checks, day(now));
};

describe('the later anchors in a dossier', () => {
  const chain = [
    [early, '2024-01-01'],
    [early, '2024-06-01'],
    [middle, '2025-06-01'],
    [early, '2025-12-01'],
    [middle, '2025-12-02'],
    [late, '2026-06-01'],
    [late, '2027-12-01'],
    [late, '2028-06-01'],
  ] as const;

  it('are none while the certificates of its own are valid', async () => {
    expect(await renewalsIn(chain)([1, 3], '2025-01-01')).toBeNull();
    expect(await renewalsIn(chain)([6, 7], '2030-01-01')).toBeNull();
    expect(await renewalsIn(chain)([], '2030-01-01')).toBeNull();
  });

  it('are the last that were stamped in time with a certificate that is valid longer, and so on', async () => {
    expect(await renewalsIn(chain)([1, 4], '2026-01-01')).toEqual({ anchors: [5], first: 1 });
    expect(await renewalsIn(chain)([2], '2030-01-01')).toEqual({ anchors: [5, 7], first: 2 });
    expect(await renewalsIn(chain)([2, 5], '2030-01-01')).toEqual({ anchors: [5, 7], first: 2 });
  });

  it('renew the time-stamps of single checks, from the anchor of each on', async () => {
    const bytes = Buffer.from('{}');
    const stampedOn = (by: DatedAuthority, on: string, anchorSeq: number) => [
      { bytes, token: by.stamp(bytes, day(on)), anchorSeq },
    ];
    const find = renewalsIn(chain);
    expect(await find([1], '2025-01-01', stampedOn(early, '2024-07-01', 1))).toBeNull();
    // Its own anchor has a certificate that is valid longer.
    expect(await find([5], '2026-01-01', stampedOn(early, '2024-07-01', 5))).toEqual({ anchors: [5], first: 4 });
    // Its own anchor is no part of what expires: the time-stamp of the check is, and a later anchor renews it.
    expect(await find([], '2026-01-01', stampedOn(early, '2024-07-01', 2))).toEqual({ anchors: [5], first: 1 });
    expect(await find([], '2030-01-01', stampedOn(middle, '2027-07-01', 2))).toEqual({ anchors: [7], first: 1 });
  });

  it('are only those that lead to a trusted root', async () => {
    expect(await renewalsIn(chain, [early, late])([2], '2030-01-01')).toBeNull();
  });

  it('are none if all were stamped too late', async () => {
    const stamps = [
      [early, '2024-01-01'],
      [late, '2026-01-01'],
    ] as const;
    expect(await renewalsIn(stamps)([1], '2030-01-01')).toBeNull();
  });
});
