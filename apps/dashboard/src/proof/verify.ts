import {
  bytesToHex,
  type ChainEnd,
  canonicalText,
  chainEndOf,
  linkFaults,
  sha256,
  verifyInclusion,
} from '@vat/evidence/portable';
import type { Api } from '../api/create-api.js';
import type { Anchor, Check, InclusionProof } from '../api/shapes.js';
import { bytesOf, compareHashes, type Finding } from './finding.js';
import { verifyAnchorStamp } from './verify-anchor-stamp.js';

/** Keys that the hash does not cover: itself, and values that are added later. */
const UNHASHED_KEYS = ['response_hash', 'timestamp', 'anchor'];

/** The inclusion of a check in its anchor, and the time-stamp of the anchor if its certificate has expired. */
const verifyPosition = async (api: Api, check: Check): Promise<Finding[]> => {
  const proof = await api.call<InclusionProof>('GET', `/checks/${check.id}/anchor`);
  const anchor = await api.call<Anchor>('GET', `/anchors/${proof.anchor_id}`);
  const { seq, tree_size: size, root } = anchor;
  const holds = verifyInclusion({
    leaf: bytesOf(check.response_hash.replace('sha256:', '')),
    index: proof.leaf_index,
    size,
    path: proof.path.map(bytesOf),
    root: bytesOf(root),
  });
  const path = `the path of ${proof.path.length} hashes ${holds ? 'leads' : 'does not lead'} to the root ${root}`;
  const inclusion = { holds, text: `Leaf ${proof.leaf_index + 1} of ${size} in anchor ${seq}: ${path}.` };
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
    compareHashes(`the ${bytes.byteLength} stored bytes`, hash, check.response_hash),
    canonicalText(shown) === new TextDecoder().decode(bytes)
      ? { holds: true, text: 'The data on this page, in canonical form, equals the stored bytes.' }
      : { holds: false, text: 'The data on this page differs from the stored bytes.' },
    ...(check.anchor === null ? [] : await verifyPosition(api, check)),
  ];
};

/** The finding about the link of an anchor to the one before it, null for the first anchor of the chain. */
const verifyLink = (anchor: Omit<Anchor, 'anchor_id'>, before: ChainEnd | null): Finding => {
  const [fault, ...others] = linkFaults(anchor, before);
  const holds = fault === undefined;
  if (before === null) {
    const text = holds
      ? 'Anchor 1 is the first anchor and has no predecessor.'
      : 'Anchor 1 names a predecessor, although it is the first anchor.';
    return { holds, text };
  }
  const link = `the hash of anchor ${before.seq}, ${before.hash}`;
  if (holds) return { holds, text: `Anchor ${anchor.seq} contains ${link}.` };
  // Several faults are of an anchor that is missing, or of one in another place of the chain.
  if (others.length === 0 && fault[0] === 'wrong_prev_anchor_hash')
    return { holds, text: `Anchor ${anchor.seq} does not contain ${link}.` };
  const details = [fault, ...others].map(([, detail]) => detail).join('; ');
  return { holds, text: `Anchor ${anchor.seq} does not follow anchor ${before.seq}: ${details}.` };
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
    return verifyLink(anchor, previous ? chainEndOf(previous) : null);
  });
};
