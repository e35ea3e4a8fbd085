import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';

/** The two hashes of a tree, by an implementation of SHA-256. Source: RFC 9162 §2.1.1. */
export const treeHashes = <Hash extends Uint8Array>(digest: (bytes: Uint8Array) => Hash) => ({
  /** The hash of a leaf's data: SHA-256(0x00 ‖ data). */
  hashLeaf: (data: Uint8Array): Hash => digest(concatBytes(Uint8Array.of(0), data)),
  /** The hash of an inner node: SHA-256(0x01 ‖ left ‖ right), 32 bytes each. */
  hashNode: (left: Uint8Array, right: Uint8Array): Hash => digest(concatBytes(Uint8Array.of(1), left, right)),
});

const { hashLeaf, hashNode } = treeHashes(sha256);

/** The claim that `leaf` (its data, not its hash) is number `index` of the `size` leaves below `root`. */
type InclusionClaim = {
  leaf: Uint8Array;
  index: number;
  size: number;
  path: readonly Uint8Array[];
  root: Uint8Array;
};

/** Whether an inclusion path proves its claim; false for a malformed claim. Source: RFC 9162 §2.1.3.2. */
export const verifyInclusion = ({ leaf, index, size, path, root }: InclusionClaim): boolean => {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  // Division instead of shifts: the bit operators truncate numbers to 32 bits.
  let [node, last, hash] = [index, size - 1, hashLeaf(leaf)];
  for (const sibling of path) {
    if (last === 0 || sibling.length !== hash.length) return false;
    if (node % 2 === 1 || node === last) {
      hash = hashNode(sibling, hash);
      for (; node % 2 === 0 && node !== 0; node /= 2) last = Math.floor(last / 2);
    } else {
      hash = hashNode(hash, sibling);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && root.length === hash.length && hash.every((byte, at) => byte === root[at]);
};
