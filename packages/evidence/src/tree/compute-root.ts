import { createHash } from 'node:crypto';
import { hashLeaf } from './hash-leaf.js';
import { hashNode } from './hash-node.js';

/** Leaves as they come: from memory, or from rows read in pages. */
export type Leaves = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A tree's size in leaves and its root, 32 bytes. */
export type TreeHead = { size: number; root: Buffer };

/** Leaves hashed between two turns of the event loop: about a millisecond and a half of work. */
const TURN = 512;

/**
 * The root over `leaves` in their order. Keeps one hash for each bit of their number, whatever that is, and lets other
 * work in between, so that a worker's locks and health checks live through a large tree. No leaves: SHA-256 of nothing.
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
    if (size % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const last = peaks.pop();
  if (!last) return { size, root: createHash('sha256').digest() };
  return { size, root: peaks.reduceRight((right, left) => hashNode(left, right), last) };
};
