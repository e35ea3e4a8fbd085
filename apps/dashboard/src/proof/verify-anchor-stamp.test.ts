import { createHash } from 'node:crypto';
import { newUuid, publicId } from '@vat/domain';
import {
  authorityExtensions,
  certificatePem,
  closeAnchor,
  createDevelopmentAuthority,
  encodeAnchor,
  issueCertificate,
  privateKeyPem,
  requestTimestamp,
  unitExtensions,
} from '@vat/evidence/proof';
import type { Api } from '../api/create-api.js';
import { ApiError } from '../api/errors.js';
import type { Anchor } from '../api/shapes.js';
import { verifyAnchorStamp } from './verify-anchor-stamp.js';

const day = (text: string) => new Date(`${text}T12:00:00.000Z`);

/** Stamps with a certificate that expires on that day. */
const authorityUntil = (expiry: string) => {
  const from = day('2020-01-01');
  const century = { from, to: day('2099-01-01') };
  const root = issueCertificate({ subject: 'Root', issuer: null, ...century, extensions: authorityExtensions() });
  const unit = issueCertificate({
    ...{ subject: 'Unit', issuer: root, from, to: day(expiry), extensions: unitExtensions() },
  });
  const [certificate, rootPem] = [unit, root].map((holder) => certificatePem(holder.certificate)) as [string, string];
  const identity = { key: privateKeyPem(unit.key), certificate, root: rootPem };
  return async (data: Uint8Array, on: string) => {
    const now = () => day(on);
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    return (await requestTimestamp({ send, now })(createHash('sha256').update(data).digest())).tokenBytes;
  };
};
const early = authorityUntil('2025-12-31');
const middle = authorityUntil('2027-12-31');
const late = authorityUntil('2035-12-31');
/** `closed`: when the anchor was closed, by default when it was stamped. */
type Made = readonly [by: typeof early, on: string, closed?: string];

/** The calls of a service whose anchors were closed and stamped on these days, two anchors a page. */
const open = async (stamps: readonly Made[]) => {
  const anchors: Anchor[] = [];
  const tokens = new Map<string, Uint8Array>();
  for (const [by, on, closed = on] of stamps) {
    const { anchor_id: _, ...previous } = anchors.at(-1) ?? { anchor_id: null };
    const before = 'seq' in previous ? previous : null;
    const anchor = closeAnchor({ previous: before, size: 1, root: Buffer.alloc(32), closedAt: day(closed) });
    const id = publicId('anchor', newUuid());
    anchors.push({ anchor_id: id, ...anchor });
    tokens.set(`/anchors/${id}.tsr`, await by(encodeAnchor(anchor), on));
  }
  const newest = anchors.toReversed();
  const api: Api = {
    send: async (_, path) => {
      const token = tokens.get(path);
      if (!token) throw new ApiError(404, 'NOT_FOUND', 'none');
      return new Response(Uint8Array.from(token));
    },
    call: async <T>(_: string, __: string, options?: { query?: { cursor?: unknown } }) => {
      const from = Number(options?.query?.cursor ?? 0);
      const next = from + 2 < newest.length ? String(from + 2) : null;
      return { data: newest.slice(from, from + 2), next_cursor: next } as T;
    },
  };
  const verify = (on: string, index = 0) => verifyAnchorStamp(api, anchors[index] as Anchor, day(on).getTime());
  return { anchors, tokens, verify };
};

const CHAIN: readonly Made[] = [
  [early, '2024-01-01'],
  [early, '2024-01-02'],
  [middle, '2025-12-30'],
  [late, '2027-06-01'],
  [late, '2028-06-01'],
];

describe('the time-stamp of an anchor, in the browser', () => {
  it('has no finding while its certificate is valid, or before it exists', async () => {
    const { verify, tokens } = await open(CHAIN);
    expect(await verify('2025-01-01')).toEqual([]);
    tokens.clear();
    expect(await verify('2030-01-01')).toEqual([]);
  });

  it('holds after that because of a later anchor, also over another one that has expired', async () => {
    const { verify } = await open(CHAIN);
    expect(await verify('2030-01-01')).toEqual([
      {
        holds: true,
        text: 'Anchor 1: the certificate of its time-stamp expired on 2025-12-31 12:00:00 UTC; anchor 3, which contains its hash, was stamped before that, on 2025-12-30 12:00:00 UTC.',
      },
    ]);
    expect(await verify('2030-01-01', 2)).toEqual([{ holds: true, text: expect.stringContaining('anchor 4, which') }]);
  });

  it('holds because of an anchor that was stamped in time, although the authority was away for those after it', async () => {
    const { verify, tokens, anchors } = await open([
      [early, '2024-01-01'],
      [late, '2025-12-29'],
      [late, '2026-01-02', '2025-12-30'],
      [late, '2026-01-02', '2025-12-31'],
    ]);
    tokens.delete(`/anchors/${anchors[3]?.anchor_id}.tsr`);
    expect(await verify('2030-01-01')).toEqual([{ holds: true, text: expect.stringContaining('anchor 2, which') }]);
  });

  it('does not hold if no later anchor was stamped in time, or if the chain is broken', async () => {
    const unrenewed = [{ holds: false, text: expect.stringContaining('no later anchor that contains its hash holds') }];
    expect(await (await open(CHAIN.slice(0, 2))).verify('2030-01-01')).toEqual(unrenewed);
    const { verify, anchors } = await open(CHAIN);
    Object.assign(anchors[1] as Anchor, { root: '11'.repeat(32) });
    expect(await verify('2030-01-01')).toEqual(unrenewed);
  });

  it('does not hold if it is of something else', async () => {
    const { verify, anchors } = await open(CHAIN);
    Object.assign(anchors[0] as Anchor, { root: '11'.repeat(32) });
    expect(await verify('2025-01-01')).toEqual([
      { holds: false, text: 'The time-stamp of anchor 1 does not verify: it is a time-stamp of something else.' },
    ]);
  });
});
