import { createHash } from 'node:crypto';
import type { Leaves, TreeHead } from './compute-root.js';
import { hashLeaf } from './hash-leaf.js';
import { locatePath } from './locate-path.js';

/** A whole tree, in about 64 bytes a leaf and no object for each. */
export type MerkleTree = TreeHead & {
  /**
   * The hashes of each level laid end to end, 32 bytes each: first the leaves', last the root. A lone last node is
   * repeated on the level above. They can be stored as they are and read by {@link locatePath}. Empty for no leaves.
   */
  levels: readonly Uint8Array[];
  /** The inclusion path of one leaf, from the leaf upwards. Throws a RangeError when there is no such leaf. */
  path: (index: number) => Buffer[];
};

const HASH = 32;
/** Hashes made between two turns of the event loop. */
const TURN = 512;

const turn = () => new Promise((resolve) => setImmediate(resolve));

const hashLeaves = async (leaves: Leaves, expected: number): Promise<Uint8Array> => {
  let hashes = new Uint8Array(Math.max(expected, 64) * HASH);
  let end = 0;
  for await (const leaf of leaves) {
    if (end === hashes.length) {
      const larger = new Uint8Array(hashes.length * 2);
      larger.set(hashes);
      hashes = larger;
    }
    hashes.set(hashLeaf(leaf), end);
    end += HASH;
    if (end % (TURN * HASH) === 0) await turn();
  }
  return hashes.subarray(0, end);
};

const levelAbove = async (below: Uint8Array): Promise<Uint8Array> => {
  const width = below.length / HASH;
  const above = new Uint8Array(Math.ceil(width / 2) * HASH);
  // Two siblings lie side by side, so a node is the hash of one piece of 65 bytes.
  const piece = new Uint8Array(1 + 2 * HASH);
  piece[0] = 1;
  for (let pair = 0; pair < Math.floor(width / 2); pair += 1) {
    piece.set(below.subarray(pair * 2 * HASH, (pair + 1) * 2 * HASH), 1);
    above.set(createHash('sha256').update(piece).digest(), pair * HASH);
    if (pair % TURN === TURN - 1) await turn();
  }
  if (width % 2 === 1) above.set(below.subarray((width - 1) * HASH), above.length - HASH);
  return above;
};

/**
 * Builds the tree over `leaves` in their order, for proofs of any leaf. `expected`, their number where it is known,
 * saves growing. The root is that of `computeRoot`. Source: RFC 9162 §2.1.
 */
export const buildTree = async (leaves: Leaves, expected = 0): Promise<MerkleTree> => {
  const bottom = await hashLeaves(leaves, expected);
  const size = bottom.length / HASH;
  const levels = size === 0 ? [] : [bottom];
  for (let top = bottom; top.length > HASH; ) {
    top = await levelAbove(top);
    levels.push(top);
  }
  const nodeAt = (level: number, index: number) =>
    Buffer.from((levels[level] ?? new Uint8Array()).subarray(index * HASH, (index + 1) * HASH));
  return {
    size,
    root: size === 0 ? createHash('sha256').digest() : nodeAt(levels.length - 1, 0),
    levels,
    path: (index) => locatePath(size, index).map((place) => nodeAt(place.level, place.index)),
  };
};
