import { hashLeaf } from './hash-leaf.js';
import { hashNode } from './hash-node.js';

/** What is claimed: that `leaf` (its data, not its hash) is number `index` of the `size` leaves below `root`. */
export type InclusionClaim = {
  leaf: Uint8Array;
  index: number;
  size: number;
  path: readonly Uint8Array[];
  root: Uint8Array;
};

/** Whether an inclusion path proves its claim; false for anything ill-formed. Source: RFC 9162 §2.1.3.2. */
export const verifyInclusion = ({ leaf, index, size, path, root }: InclusionClaim): boolean => {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  // Halved by division: the bit operators would cut numbers off at 32 bits.
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
  return last === 0 && hash.equals(root);
};
