import { hash } from 'node:crypto';
import { treeHashes } from './inclusion.js';

/** Length of a hash in bytes. */
const HASH = 32;

const splitHashes = (hashes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(hashes.length / HASH) }, (_, n) => hashes.subarray(n * HASH, (n + 1) * HASH));

/**
 * The hashes of a tree, by Node: twice as fast as the portable implementation, and a large anchor needs millions of them. The
 * Hash objects of `createHash` survive minor garbage collections: the million of them that the proofs of a dossier need took
 * a hundred megabytes.
 */
export const { hashLeaf, hashNode } = treeHashes((bytes) => hash('sha256', bytes, 'buffer'));

/** Every sixth level of a tree is stored, in blocks of 64 nodes: half a byte per leaf, and a proof hashes 64 leaves. */
const BLOCK_LEVELS = 6;
export const BLOCK_NODES = 2 ** BLOCK_LEVELS;

/** A stored block on the path from a leaf to the root: it has `nodes` nodes, and the path contains node number `at`. */
export type BlockOnPath = { level: number; index: number; nodes: number; at: number };

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
    const block = Math.floor(at / BLOCK_NODES);
    const nodes = Math.min(BLOCK_NODES, width - block * BLOCK_NODES);
    blocks.push({ level, index: block, nodes, at: at % BLOCK_NODES });
    width = Math.ceil(width / BLOCK_NODES);
    at = block;
  }
  return blocks;
};

/** The level above a level of a tree: siblings are hashed, a last node without sibling is repeated. Source: RFC 9162 §2.1.1. */
const nodesAbove = (nodes: readonly Uint8Array[]): Uint8Array[] => {
  const above: Uint8Array[] = [];
  for (let n = 0; n < nodes.length; n += 2) {
    const [left, right] = [nodes[n] as Uint8Array, nodes[n + 1]];
    above.push(right === undefined ? left : hashNode(left, right));
  }
  return above;
};

/** The nodes of a stored block and every row above them, up to the single top node. */
export type BlockRows = readonly (readonly Uint8Array[])[];

/** Hashes a block's rows. `stored`: 32 bytes per node; at level 0 the leaves' data. Throws if its length is wrong. */
export const blockRows = ({ level, index, nodes }: Omit<BlockOnPath, 'at'>, stored: Uint8Array): BlockRows => {
  const split = splitHashes(stored);
  if (split.length !== nodes)
    throw new Error(`block ${index} of level ${level} has ${split.length} hashes, not ${nodes}`);
  const rows: Uint8Array[][] = [level === 0 ? split.map((leaf) => hashLeaf(leaf)) : split];
  for (let row = rows[0] ?? []; row.length > 1; ) {
    row = nodesAbove(row);
    rows.push(row);
  }
  return rows;
};

/** The siblings on the path up from node `at` of a block. A node without sibling adds nothing. */
export const siblingsIn = (rows: BlockRows, at: number): Uint8Array[] => {
  const siblings: Uint8Array[] = [];
  let index = at;
  for (const row of rows) {
    const sibling = row[index % 2 === 0 ? index + 1 : index - 1];
    if (sibling) siblings.push(sibling);
    index = Math.floor(index / 2);
  }
  return siblings;
};

/** The stored part of a tree: everything except its leaves. */
export type TreeBlocks = {
  /** In leaves. */
  size: number;
  root: Buffer;
  /** The concatenated hashes of levels 6, 12 … that have more than one node, 32 bytes each. */
  nodes: Map<number, Uint8Array>;
};

const foldOf = (nodes: readonly Uint8Array[]): Uint8Array => {
  let level = nodes;
  while (level.length > 1) level = nodesAbove(level);
  return level[0] as Uint8Array;
};

/** Builds the stored part of a tree from pages of leaves. */
type TreeBuilder = {
  /** Adds the concatenated data of leaves, 32 bytes each. Blocks the event loop for about three milliseconds per thousand. */
  add: (leaves: Uint8Array) => void;
  /** Throws if there were no leaves. */
  finish: () => TreeBlocks;
};

/**
 * Builds a tree with half a byte of memory per leaf. `proveChecks` reads the stored nodes.
 * Source: RFC 9162 §2.1.
 */
export const openTreeBuilder = (): TreeBuilder => {
  /** The nodes of level 6. */
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
