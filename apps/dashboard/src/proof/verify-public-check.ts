import {
  bytesToHex,
  type ChainEnd,
  canonicalText,
  chainEndOf,
  evaluateAnchor,
  linkFaults,
  sha256,
  verifyInclusion,
} from '@vat/evidence/portable';
import type { Anchor, Check, InclusionProof, PublicVerification } from '../api/shapes.js';
import { bytesOf, compareHashes, type Finding } from './finding.js';

/** A check as it was hashed. */
export type HashedCheck = Omit<Check, 'response_hash' | 'timestamp' | 'anchor'>;

const parseCheck = (text: string): HashedCheck | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as HashedCheck) : null;
  } catch {
    return null;
  }
};

/** Verifies that the displayed data has no other reading (canonical form), and is that of the check of the link. */
const verifyData = (check: HashedCheck | null, evidence: string, id: string): Finding => {
  if (check === null) return { holds: false, text: 'The bytes of this check cannot be read.' };
  if (canonicalText(check) !== evidence)
    return { holds: false, text: 'The bytes of this check are not in canonical form (RFC 8785).' };
  return check.id === id
    ? { holds: true, text: 'The data on this page is read from these bytes, which are in canonical form (RFC 8785).' }
    : { holds: false, text: `The bytes are those of another check, ${check.id}.` };
};

const verifyPosition = (
  leaf: Uint8Array,
  { anchor_id: id, leaf_index: index, path }: InclusionProof,
  anchors: readonly Anchor[],
): Finding => {
  const anchor = anchors.find(({ anchor_id }) => anchor_id === id);
  if (!anchor) return { holds: false, text: `Anchor ${id} is missing.` };
  const { seq, tree_size: size, root } = anchor;
  const holds = verifyInclusion({ leaf, index, size, path: path.map(bytesOf), root: bytesOf(root) });
  return {
    holds,
    text: holds
      ? `The hash is leaf ${index + 1} of ${size} in anchor ${seq}: a path of ${path.length} hashes leads to the root ${root}.`
      : `The hash is not leaf ${index + 1} of anchor ${seq}: the path of ${path.length} hashes does not lead to the root ${root}.`,
  };
};

/** Verifies that each anchor contains the hash of its predecessor. Anchors before the first one of a part are not known. */
const verifyLinks = (anchors: readonly Anchor[]): Finding => {
  let before: ChainEnd | null = null;
  for (const { anchor_id: id, ...anchor } of anchors) {
    const wrong = evaluateAnchor(anchor);
    if (wrong !== null) return { holds: false, text: `Anchor ${id} is not an anchor: ${wrong}.` };
    const faults = before === null && anchor.seq !== 1 ? [] : linkFaults(anchor, before);
    if (faults.length > 0) {
      const details = faults.map(([, detail]) => detail).join('; ');
      return { holds: false, text: `The chain is broken at anchor ${anchor.seq}: ${details}.` };
    }
    before = chainEndOf(anchor);
  }
  const [first, last] = [anchors[0]?.seq, before?.seq];
  if (first !== last)
    return {
      holds: true,
      text: `Anchors ${first} to ${last} form a chain: each contains the hash of the one before it.`,
    };
  return first === 1
    ? { holds: true, text: 'Anchor 1 is the first anchor of the chain.' }
    : { holds: false, text: 'The chain around the anchor is missing.' };
};

/**
 * Verifies the data of a public link: the hash of the bytes, that they are those of the check `id`, and once the check is
 * anchored, that the computed hash is in the anchor's tree, and the chain of anchors around it. `check` is read from the bytes,
 * and null when they are no JSON object.
 */
export const verifyPublicCheck = (
  { evidence, response_hash, proof, anchors }: PublicVerification,
  id: string,
): { check: HashedCheck | null; findings: Finding[] } => {
  const bytes = new TextEncoder().encode(evidence);
  const leaf = sha256(bytes);
  const hash = `sha256:${bytesToHex(leaf)}`;
  const check = parseCheck(evidence);
  return {
    check,
    findings: [
      compareHashes(`the ${bytes.byteLength} bytes of this check`, hash, response_hash),
      verifyData(check, evidence, id),
      ...(proof === null ? [] : [verifyPosition(leaf, proof, anchors), verifyLinks(anchors)]),
    ],
  };
};
