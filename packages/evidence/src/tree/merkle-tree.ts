import { createHash, hash } from 'node:crypto';
import { treeHashes } from './inclusion.js';

/** Length of a hash in bytes. */
export const HASH = 32;

/** Splits concatenated hashes of 32 bytes; the parts share the memory of the input. */
export const splitHashes = (hashes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(hashes.length / HASH) }, (_, n) => hashes.subarray(n * HASH, (n + 1) * HASH));

/**
 * The hashes of a tree, by Node: twice as fast as the portable implementation, and a large anchor needs millions of them. The
 * Hash objects of `createHash` survive minor garbage collections: the million of them that the proofs of a dossier need took
 * a hundred megabytes.
 */
export const { hashLeaf, hashNode } = treeHashes((bytes) => hash('sha256', bytes, 'buffer'));

/** Leaves from memory, or from rows that are read in pages. */
export type Leaves = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A tree's size in leaves and its root, 32 bytes. */
export type TreeHead = { size: number; root: Buffer };

/** The number of hashes between two turns of the event loop: about one and a half milliseconds of work. */
const TURN = 512;

/**
 * The root over `leaves` in their order. Stores one hash for each bit of their number, and yields to the event loop, so that
 * locks and health checks are served during a large tree. Without leaves the root is the SHA-256 of no bytes.
 * Source: RFC 9162 §2.1.1.
 */
export const computeRoot = async (leaves: Leaves): Promise<TreeHead> => {
  // Roots of full subtrees, the largest first; their sizes are the bits of `size`.
  const peaks: Buffer[] = [];
  let size = 0;
  for await (const leaf of leaves) {
    let carried = hashLeaf(leaf);
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) carried = hashNode(peaks.pop() ?? carried, carried);
    peaks.push(carried);
    size += 1;
    if (size % TURN === 0) await nextTurn();
  }
  const last = peaks.pop();
  if (!last) return { size, root: createHash('sha256').digest() };
  return { size, root: peaks.reduceRight((right, left) => hashNode(left, right), last) };
};

/** The position of a node in a tree: level 0 has the hashes of the leaves, the last level the root; `index` is from the left. */
type NodePosition = { level: number; index: number };

/**
 * The positions of the nodes that prove leaf `index` of a tree of `size` leaves, from the leaf upwards (for the levels see
 * `buildTree`). Throws a RangeError for a leaf that is not in the tree.
 */
export const locatePath = (size: number, index: number): NodePosition[] => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size}`);
  const positions: NodePosition[] = [];
  let [width, place] = [size, index];
  for (let level = 0; width > 1; level += 1) {
    const sibling = place % 2 === 0 ? place + 1 : place - 1;
    // The last node of a level with an odd number of nodes has no sibling and is repeated on the level above.
    if (sibling < width) positions.push({ level, index: sibling });
    width = Math.ceil(width / 2);
    place = Math.floor(place / 2);
  }
  return positions;
};

/** A complete tree. It takes about 64 bytes per leaf. */
type MerkleTree = TreeHead & {
  /**
   * The concatenated hashes of each level, 32 bytes each: first those of the leaves, last the root. A last node without
   * sibling is repeated on the level above. {@link locatePath} gives positions in these levels. Empty without leaves.
   */
  levels: readonly Uint8Array[];
  /** The inclusion path of one leaf, from the leaf upwards. Throws a RangeError if there is no such leaf. */
  path: (index: number) => Buffer[];
};

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

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
    if (end % (TURN * HASH) === 0) await nextTurn();
  }
  return hashes.subarray(0, end);
};

const levelAbove = async (below: Uint8Array): Promise<Uint8Array> => {
  const width = below.length / HASH;
  const above = new Uint8Array(Math.ceil(width / 2) * HASH);
  // Siblings are adjacent, so a node is the hash of one prefix byte and 64 consecutive bytes.
  const piece = new Uint8Array(1 + 2 * HASH);
  piece[0] = 1;
  for (let pair = 0; pair < Math.floor(width / 2); pair += 1) {
    piece.set(below.subarray(pair * 2 * HASH, (pair + 1) * 2 * HASH), 1);
    above.set(createHash('sha256').update(piece).digest(), pair * HASH);
    if (pair % TURN === TURN - 1) await nextTurn();
  }
  if (width % 2 === 1) above.set(below.subarray((width - 1) * HASH), above.length - HASH);
  return above;
};

/**
 * Builds the tree over `leaves` in their order, for proofs of any leaf. `expected`, the number of leaves if it is known,
 * avoids reallocation. The root is that of `computeRoot`. Source: RFC 9162 §2.1.
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
