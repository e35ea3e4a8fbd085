import { bytesToHex, canonicalText, chainEndOf, linkFaults, sha256, verifyInclusion } from '@vat/evidence/portable';
import type { Api } from '../api/create-api.js';
import type { Anchor, Check, InclusionProof } from '../api/shapes.js';
import { bytesOf, type Finding } from './finding.js';
import { verifyAnchorStamp } from './verify-anchor-stamp.js';

/** Keys that the hash does not cover: itself, and values that are added later. */
const UNHASHED_KEYS = ['response_hash', 'timestamp', 'anchor'];

/** The inclusion of a check in its anchor, and the time-stamp of the anchor if its certificate has expired. */
const verifyPosition = async (api: Api, check: Check): Promise<Finding[]> => {
  const proof = await api.call<InclusionProof>('GET', `/checks/${check.id}/anchor`);
  const anchor = await api.call<Anchor>('GET', `/anchors/${proof.anchor_id}`);
  const { seq, tree_size: size, root } = anchor;
  const inclusion: Finding = {
    holds: verifyInclusion({
      leaf: bytesOf(check.response_hash.replace('sha256:', '')),
      index: proof.leaf_index,
      size,
      path: proof.path.map(bytesOf),
      root: bytesOf(root),
    }),
    text: `Leaf ${proof.leaf_index + 1} of ${size} in anchor ${seq}: the path of ${proof.path.length} hashes leads to the root ${root}.`,
  };
  return [inclusion, ...(await verifyAnchorStamp(api, anchor, Date.now()))];
};

/**
 * Verifies a check in the browser: the hash of the stored bytes, the equality of those bytes with the displayed data and,
 * once it is anchored, the inclusion of the hash in the tree of the anchor, and an expired time-stamp of the anchor. Throws the errors of the calls.
 */
export const verifyCheck = async (api: Api, check: Check): Promise<Finding[]> => {
  const answer = await api.send('GET', `/checks/${check.id}/evidence`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const hash = `sha256:${bytesToHex(sha256(bytes))}`;
  const shown = Object.fromEntries(Object.entries(check).filter(([name]) => !UNHASHED_KEYS.includes(name)));
  return [
    {
      holds: hash === check.response_hash,
      text: `The SHA-256 of the ${bytes.byteLength} stored bytes, computed in this browser, is ${hash}.`,
    },
    {
      holds: canonicalText(shown) === new TextDecoder().decode(bytes),
      text: 'The data on this page, in canonical form, equals the stored bytes.',
    },
    ...(check.anchor === null ? [] : await verifyPosition(api, check)),
  ];
};

/**
 * Verifies that each anchor contains the hash of its predecessor. The anchors may be in any order; the predecessor of the
 * oldest one may not be loaded. Throws an Error for an anchor that cannot be hashed.
 */
export const verifyChain = (anchors: readonly Anchor[]): Finding[] => {
  const inOrder = anchors.toSorted((one, other) => one.seq - other.seq).map(({ anchor_id: _, ...hashed }) => hashed);
  return inOrder.flatMap((anchor, index) => {
    const previous = inOrder[index - 1];
    if (!previous && anchor.seq !== 1) return [];
    const before = previous ? chainEndOf(previous) : null;
    return {
      holds: linkFaults(anchor, before).length === 0,
      text: before
        ? `Anchor ${anchor.seq} contains the hash of anchor ${before.seq}, ${before.hash}.`
        : 'Anchor 1 is the first anchor and has no predecessor.',
    };
  });
};
