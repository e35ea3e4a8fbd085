import { createHash, generateKeyPairSync } from 'node:crypto';
import { type AnchorAudit, type AnchorToVerify, newUuid, publicId, type StampFacts } from '@vat/domain';
import { type Anchor, encodeAnchor, hashAnchor } from '../anchor/anchor.js';
import { closeAnchor } from '../anchor/close-anchor.js';
import { type DatedAuthority, makeDatedAuthority } from '../timestamp/dated-authority.fixture.js';
import { DEVELOPMENT_POLICY } from '../timestamp/object-identifiers.js';
import { verifyTimestamp } from '../timestamp/verify-timestamp.js';
import { definedTree } from '../tree/defined-tree.fixture.js';
import { expiresSoon } from './report-standings.js';
import { verifyAnchors } from './verify-anchors.js';

const day = (text: string) => new Date(`${text}T12:00:00.000Z`);
const PSS: object = { hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 32 };
const authority = (name: string, to: string, more: object = {}) =>
  makeDatedAuthority(name, { from: day('2020-01-01'), to: day(to), ...more });
const early = authority('Early', '2025-12-31');
const middle = authority('Middle', '2027-12-31', { hash: 'sha512' });
const late = authority('Late', '2035-12-31', {
  key: generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...PSS }).privateKey,
  hash: 'sha384',
});
const development = authority('Development', '2050-12-31', { policy: DEVELOPMENT_POLICY });

type Made = { by: DatedAuthority; on: string };
const bytes = (hex: string) => Buffer.from(hex, 'hex');
const factsOf = (token: Uint8Array, data: Uint8Array): StampFacts => {
  const { tokenBytes: _, certificates: __, validUntil: ___, ...facts } = verifyTimestamp({ tokenBytes: token, data });
  return facts;
};

/** Anchors of one check each, with their time-stamps; the first check has a time-stamp of its own. */
const record = async (stamps: readonly Made[], own: Made | null = null): Promise<AnchorAudit> => {
  const rows: AnchorToVerify[] = [];
  const body = Buffer.from('a check');
  const leaf = createHash('sha256').update(body).digest();
  let previous: Anchor | null = null;
  for (const { by, on } of stamps) {
    const root = definedTree([leaf]).root();
    const anchor: Anchor = closeAnchor({ previous, size: 1, root, closedAt: day('2024-01-01') });
    const data = encodeAnchor(anchor);
    const token = by.stamp(data, day(on));
    const hash = bytes(hashAnchor(anchor));
    rows.push({
      ...{ id: newUuid(), seq: anchor.seq, closedAt: new Date(anchor.closed_at), treeSize: 1, root, hash, body: data },
      ...{ prevAnchorHash: bytes(anchor.prev_anchor_hash), stamp: factsOf(token, data), token, stampDigest: hash },
    });
    previous = anchor;
  }
  const token = own?.by.stamp(body, day(own.on));
  return {
    anchors: async (after) => rows.filter(({ seq }) => seq > after),
    leaves: async (_, from) => ({ hashes: from === 0 ? leaf : Buffer.of(), whole: true, ranged: true, differing: [] }),
    readBlock: async () => Buffer.of(),
    leavesBeyond: async () => 0,
    leafFaults: async () => ({ faults: [], next: null }),
    checkStamps: async (after) =>
      token && after === null
        ? [
            {
              ...{ subjectId: CHECK, digest: leaf, token, facts: factsOf(token, body), checkHash: leaf },
              ...{ checkBody: body, checkedAt: null, anchorSeq: 1 },
            },
          ]
        : [],
  };
};
const CHECK = newUuid();
const verifyOn = async (on: string, audit: AnchorAudit, authorities = [early, middle, late]) => {
  const trustedRoots = authorities.map(({ root }) => root);
  const { differences, renewed, validUntil } = await verifyAnchors({ audit, now: () => day(on), trustedRoots })();
  const expired = differences.map(({ kind, anchor_seq: seq, check_id: id, detail }) => [kind, seq ?? id, detail]);
  return { expired, renewed, validUntil };
};

describe('anchors whose time-stamps were made with certificates that expire', () => {
  it('hold while the certificates are valid, and the first expiry of all is known', async () => {
    const audit = await record([
      { by: early, on: '2024-01-01' },
      { by: middle, on: '2024-01-02' },
    ]);
    const report = await verifyOn('2025-06-01', audit);
    expect(report).toEqual({ expired: [], renewed: [], validUntil: day('2027-12-31') });
    expect(expiresSoon(report.validUntil, day('2027-10-01'))).toBe(false);
    expect(expiresSoon(report.validUntil, day('2027-11-10'))).toBe(true);
    expect(expiresSoon(null, day('2027-11-10'))).toBe(false);
  });

  it('have an expiry to warn of, although those of the development authority are valid longer', async () => {
    const audit = await record([
      { by: development, on: '2024-01-01' },
      { by: early, on: '2024-01-02' },
    ]);
    expect((await verifyOn('2025-06-01', audit)).validUntil).toEqual(day('2025-12-31'));
  });

  it('hold after that because of a later anchor, directly or over another one', async () => {
    const audit = await record([
      { by: early, on: '2024-01-01' },
      { by: early, on: '2024-01-02' },
      { by: middle, on: '2025-12-30' },
      { by: late, on: '2027-12-30' },
    ]);
    const { expired, renewed } = await verifyOn('2030-01-01', audit);
    expect(expired).toEqual([]);
    expect(renewed).toEqual([
      {
        ...{ first_seq: 1, last_seq: 2, anchors: 2, expired_at: '2025-12-31T12:00:00.000Z' },
        ...{ by_seq: 3, stamped_at: '2025-12-30T12:00:00.000Z' },
      },
      {
        ...{ first_seq: 3, last_seq: 3, anchors: 1, expired_at: '2027-12-31T12:00:00.000Z' },
        ...{ by_seq: 4, stamped_at: '2027-12-30T12:00:00.000Z' },
      },
    ]);
  });

  it('do not hold if the later anchor was stamped too late, or its token does not verify', async () => {
    const stamps = [
      { by: early, on: '2024-01-01' },
      { by: early, on: '2024-01-02' },
    ];
    const tooLate = await record([...stamps, { by: late, on: '2026-01-01' }]);
    expect(await verifyOn('2030-01-01', tooLate)).toMatchObject({
      expired: [
        [
          ...['anchor_expired', 1],
          '2 anchors between 1 and 2, each: the certificate of its time-stamp expired on 2025-12-31 12:00:00 UTC; of the later anchors that contain its hash and hold, anchor 3 was stamped first, on 2026-01-01 12:00:00 UTC, which is too late',
        ],
      ],
      renewed: [],
    });
    const untrusted = await record([...stamps, { by: late, on: '2025-01-01' }]);
    const { expired } = await verifyOn('2030-01-01', untrusted, [early]);
    expect(expired.map(([kind, seq]) => `${kind} ${seq}`)).toEqual(['anchor_stamp 3', 'anchor_expired 1']);
  });
});

describe('a check whose own time-stamp has expired', () => {
  const own = { by: early, on: '2024-03-01' };
  it('holds because of its anchor', async () => {
    const audit = await record([{ by: late, on: '2024-04-01' }], own);
    expect(await verifyOn('2030-01-01', audit)).toMatchObject({ expired: [] });
  });

  it('does not hold if its anchor was stamped too late', async () => {
    const audit = await record([{ by: late, on: '2026-04-01' }], own);
    expect(await verifyOn('2030-01-01', audit)).toMatchObject({
      expired: [['check_expired', publicId('check', CHECK), expect.stringMatching(/which is too late$/)]],
    });
  });
});
