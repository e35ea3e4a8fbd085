import { hashLeaf, hashNode, splitHashes, type TreeHead } from './merkle-tree.js';

/** Every sixth level of a tree is stored, in blocks of 64 nodes: half a byte a leaf, and a proof hashes 64 leaves. */
export const BLOCK_LEVELS = 6;
export const BLOCK_NODES = 2 ** BLOCK_LEVELS;

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

/** The level above a level of a tree: siblings hashed, a lone last one risen unchanged. Source: RFC 9162 §2.1.1. */
export const nodesAbove = (nodes: readonly Uint8Array[]): Uint8Array[] => {
  const above: Uint8Array[] = [];
  for (let n = 0; n < nodes.length; n += 2) {
    const [left, right] = [nodes[n] as Uint8Array, nodes[n + 1]];
    above.push(right === undefined ? left : hashNode(left, right));
  }
  return above;
};

/** The nodes of a stored block and every row above them, up to the one on top. */
export type BlockRows = readonly (readonly Uint8Array[])[];

/** Hashes a block's rows. `stored`: 32 bytes a node; at level 0 the leaves' data. Throws where it is not as long as it should be. */
export const blockRows = ({ level, place, nodes }: Omit<BlockOnPath, 'at'>, stored: Uint8Array): BlockRows => {
  const split = splitHashes(stored);
  if (split.length !== nodes)
    throw new Error(`block ${place} of level ${level} has ${split.length} hashes, not ${nodes}`);
  const rows: Uint8Array[][] = [level === 0 ? split.map((leaf) => hashLeaf(leaf)) : split];
  for (let row = rows[0] ?? []; row.length > 1; ) {
    row = nodesAbove(row);
    rows.push(row);
  }
  return rows;
};

/** The siblings on the way up from node `at` of a block, and nothing where it stands alone. */
export const siblingsIn = (rows: BlockRows, at: number): Uint8Array[] => {
  const siblings: Uint8Array[] = [];
  let place = at;
  for (const row of rows) {
    const sibling = row[place % 2 === 0 ? place + 1 : place - 1];
    if (sibling) siblings.push(sibling);
    place = Math.floor(place / 2);
  }
  return siblings;
};

/** A tree without its leaves: what is stored of it. */
export type TreeBlocks = TreeHead & {
  /** The hashes of levels 6, 12 … as far as a level has more than one, 32 bytes each, end to end. */
  nodes: Map<number, Uint8Array>;
};

const foldOf = (nodes: readonly Uint8Array[]): Uint8Array => {
  let level = nodes;
  while (level.length > 1) level = nodesAbove(level);
  return level[0] as Uint8Array;
};

/** Builds the stored part of a tree from leaves that come in slices. */
export type TreeBuilder = {
  /** Adds leaves' data, 32 bytes each, end to end. About three milliseconds a thousand, without a turn of the event loop. */
  add: (leaves: Uint8Array) => void;
  /** Throws when there were no leaves. */
  finish: () => TreeBlocks;
};

/**
 * Builds a tree in the memory of half a byte a leaf. The root is that of `computeRoot`; the stored nodes are what
 * `proveLeaf` reads. Source: RFC 9162 §2.1.
 */
export const openTreeBuilder = (): TreeBuilder => {
  /** Levels 6, 12 … as far as they go. */
  const folded: Uint8Array[] = [];
  let block: Uint8Array[] = [];
  let size = 0;
  return {
    add: (leaves) => {
      for (const leaf of splitHashes(leaves)) {
        block.push(hashLeaf(leaf));
        size += 1;
        if (block.length < BLOCK_NODES) continue;
        folded.push(foldOf(block));
        block = [];
      }
    },
    finish: () => {
      if (size === 0) throw new Error('a tree of no leaves has no blocks');
      let top = block.length > 0 ? [...folded, foldOf(block)] : folded;
      const nodes = new Map<number, Uint8Array>();
      for (let level = BLOCK_LEVELS; top.length > 1; level += BLOCK_LEVELS) {
        nodes.set(level, Buffer.concat(top));
        const blocks = Array.from({ length: Math.ceil(top.length / BLOCK_NODES) }, (_, n) =>
          top.slice(n * BLOCK_NODES, (n + 1) * BLOCK_NODES),
        );
        top = blocks.map(foldOf);
      }
      return { size, root: Buffer.from(top[0] as Uint8Array), nodes };
    },
  };
};

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
