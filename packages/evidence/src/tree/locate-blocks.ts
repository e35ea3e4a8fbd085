import { BLOCK_LEVELS, BLOCK_NODES } from './block-size.js';

/** A stored block on the way from a leaf to the root: `nodes` of it are there, and the way goes through number `at`. */
export type BlockOnPath = { level: number; place: number; nodes: number; at: number };

/**
 * The stored blocks that prove leaf `index` of a tree of `size`, from the leaf upwards. Throws a RangeError for a leaf that
 * is not in the tree.
 */
export const locateBlocks = (size: number, index: number): BlockOnPath[] => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size}`);
  const blocks: BlockOnPath[] = [];
  let [width, at] = [size, index];
  for (let level = 0; width > 1; level += BLOCK_LEVELS) {
    const place = Math.floor(at / BLOCK_NODES);
    const nodes = Math.min(BLOCK_NODES, width - place * BLOCK_NODES);
    blocks.push({ level, place, nodes, at: at % BLOCK_NODES });
    width = Math.ceil(width / BLOCK_NODES);
    at = place;
  }
  return blocks;
};
