import { BLOCK_LEVELS, BLOCK_NODES } from './block-size.js';
import { hashLeaf } from './hash-leaf.js';
import { nodesAbove } from './nodes-above.js';
import { splitHashes } from './split-hashes.js';

/** Reads a block of a stored level; level 0 holds the leaves' data. 32 bytes each, end to end. */
export type ReadTreeBlock = (level: number, place: number) => Promise<Uint8Array>;

/** The path of one node through its block, and nothing where it stands alone. */
const climb = (block: readonly Uint8Array[], place: number): Uint8Array[] => {
  const path: Uint8Array[] = [];
  let [nodes, at] = [block, place];
  while (nodes.length > 1) {
    const sibling = nodes[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling) path.push(sibling);
    nodes = nodesAbove(nodes);
    at = Math.floor(at / 2);
  }
  return path;
};

/**
 * The inclusion path of leaf `index` of a tree of `size`, from one block of each stored level. Throws a RangeError for a
 * leaf that is not in the tree, an Error when a block is not as long as the tree says. Source: RFC 9162 §2.1.3.
 */
export const proveLeaf = async (size: number, index: number, readBlock: ReadTreeBlock): Promise<Uint8Array[]> => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size}`);
  const path: Uint8Array[] = [];
  let [width, at] = [size, index];
  for (let level = 0; width > 1; level += BLOCK_LEVELS) {
    const place = Math.floor(at / BLOCK_NODES);
    const stored = splitHashes(await readBlock(level, place));
    const expected = Math.min(BLOCK_NODES, width - place * BLOCK_NODES);
    if (stored.length !== expected)
      throw new Error(`block ${place} of level ${level} has ${stored.length} hashes, not ${expected}`);
    path.push(...climb(level === 0 ? stored.map((leaf) => hashLeaf(leaf)) : stored, at % BLOCK_NODES));
    width = Math.ceil(width / BLOCK_NODES);
    at = place;
  }
  return path;
};
