import { newUuid, publicId } from '@vat/domain';
import {
  ANCHOR_ALGORITHM,
  bytesToHex,
  canonicalText,
  hashAnchor,
  NO_ANCHOR_HASH,
  sha256,
  treeHashes,
} from '@vat/evidence/portable';
import type { Api } from '../api/create-api.js';
import { ApiError } from '../api/errors.js';
import type { Anchor, Check } from '../api/shapes.js';
import { verifyChain, verifyCheck } from './verify.js';

const { hashLeaf, hashNode } = treeHashes(sha256);
const bytesOfText = (text: string) => new TextEncoder().encode(text);

/** Three anchors, each with two checks and this root. */
const anchorsOf = (root: string): [Anchor, Anchor, Anchor] => {
  const anchors: Anchor[] = [];
  for (const seq of [1, 2, 3]) {
    const { anchor_id: _, ...before } = anchors.at(-1) ?? { anchor_id: '' };
    anchors.push({
      anchor_id: publicId('anchor', newUuid()),
      v: 1,
      seq,
      alg: ANCHOR_ALGORITHM,
      closed_at: `2026-11-20T1${seq}:00:00.000Z`,
      tree_size: 2,
      root,
      prev_anchor_hash: 'seq' in before ? hashAnchor(before) : NO_ANCHOR_HASH,
    });
  }
  return anchors as [Anchor, Anchor, Anchor];
};
const hashOf = ({ anchor_id: _, ...anchor }: Anchor) => hashAnchor(anchor);

describe('the chain of anchors', () => {
  const [one, two, three] = anchorsOf('00'.repeat(32));
  const none = '11'.repeat(32);

  test('holds, in any order and from any anchor on', () => {
    const links = [
      { holds: true, text: 'Anchor 1 is the first anchor and has no predecessor.' },
      { holds: true, text: `Anchor 2 contains the hash of anchor 1, ${hashOf(one)}.` },
      { holds: true, text: `Anchor 3 contains the hash of anchor 2, ${hashOf(two)}.` },
    ];
    expect(verifyChain([three, two, one])).toEqual(links);
    expect(verifyChain([three, two])).toEqual(links.slice(2));
  });

  test('that is broken says what is wrong, and nothing that would be right', () => {
    expect(verifyChain([one, { ...two, prev_anchor_hash: none }])[1]).toEqual({
      holds: false,
      text: `Anchor 2 does not contain the hash of anchor 1, ${hashOf(one)}.`,
    });
    expect(verifyChain([{ ...one, prev_anchor_hash: none }])).toEqual([
      { holds: false, text: 'Anchor 1 names a predecessor, although it is the first anchor.' },
    ]);
    expect(verifyChain([one, three])[1]).toEqual({
      holds: false,
      text: expect.stringMatching(/^Anchor 3 does not follow anchor 1: seq is 3 where 2 follows; prev_anchor_hash is /),
    });
    expect(verifyChain([one, { ...two, closed_at: '2026-11-19T10:00:00.000Z' }])[1]).toEqual({
      holds: false,
      text: expect.stringMatching(/^Anchor 2 does not follow anchor 1: closed 2026-11-19.*, before its predecessor/),
    });
  });
});

describe('a check', () => {
  const shown = { id: publicId('check', newUuid()), valid: true };
  const stored = bytesOfText(canonicalText(shown));
  const other = hashLeaf(sha256(bytesOfText('the other check')));
  const [anchor] = anchorsOf(bytesToHex(hashNode(hashLeaf(sha256(stored)), other)));
  const hash = `sha256:${bytesToHex(sha256(stored))}`;

  /** Verifies the check with these parts of it and of the responses changed. */
  const verify = async ({ check = {}, bytes = stored, path = [bytesToHex(other)] } = {}) => {
    const responses: Record<string, unknown> = {
      [`/checks/${shown.id}/anchor`]: { anchor_id: anchor.anchor_id, leaf_index: 0, tree_size: 2, path },
      [`/anchors/${anchor.anchor_id}`]: anchor,
    };
    const api: Api = {
      send: async (_, address) => {
        if (address.endsWith('/evidence')) return new Response(Uint8Array.from(bytes));
        throw new ApiError(404, 'NOT_FOUND', 'none');
      },
      call: async <T>(_: string, address: string) => responses[address] as T,
    };
    const all = { ...shown, response_hash: hash, timestamp: null, anchor: {}, ...check };
    return verifyCheck(api, all as unknown as Check);
  };

  test('is verified by its hash, its data and its place in the anchor', async () => {
    expect(await verify()).toEqual([
      {
        holds: true,
        text: `The SHA-256 of the ${stored.byteLength} stored bytes, computed in this browser, is ${hash}.`,
      },
      { holds: true, text: 'The data on this page, in canonical form, equals the stored bytes.' },
      {
        holds: true,
        text: `Leaf 1 of 2 in anchor 1: the path of 1 hashes leads to the root ${anchor.root}.`,
      },
    ]);
  });

  test('that does not hold says what differs, and nothing that would be right', async () => {
    const changed = bytesOfText('{"id":"chk_other"}');
    expect((await verify({ bytes: changed })).slice(0, 2)).toEqual([
      {
        holds: false,
        text: `The SHA-256 of the ${changed.byteLength} stored bytes, computed in this browser, is sha256:${bytesToHex(sha256(changed))}, but the recorded hash is ${hash}.`,
      },
      { holds: false, text: 'The data on this page differs from the stored bytes.' },
    ]);
    expect((await verify({ check: { valid: false } })).map(({ holds }) => holds)).toEqual([true, false, true]);
    expect((await verify({ path: [] }))[2]).toEqual({
      holds: false,
      text: `Leaf 1 of 2 in anchor 1: the path of 0 hashes does not lead to the root ${anchor.root}.`,
    });
  });
});
