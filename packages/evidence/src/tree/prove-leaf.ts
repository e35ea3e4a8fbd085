import { blockRows, siblingsIn } from './block-rows.js';
import { locateBlocks } from './locate-blocks.js';

/** Reads a block of a stored level; level 0 holds the leaves' data. 32 bytes each, end to end. */
export type ReadTreeBlock = (level: number, place: number) => Promise<Uint8Array>;

/**
 * The inclusion path of leaf `index` of a tree of `size`, from one block of each stored level. Throws a RangeError for a
 * leaf that is not in the tree, an Error when a block is not as long as the tree says. Source: RFC 9162 §2.1.3.
 */
export const proveLeaf = async (size: number, index: number, readBlock: ReadTreeBlock): Promise<Uint8Array[]> => {
  const path: Uint8Array[] = [];
  for (const block of locateBlocks(size, index))
    path.push(...siblingsIn(blockRows(block, await readBlock(block.level, block.place)), block.at));
  return path;
};
