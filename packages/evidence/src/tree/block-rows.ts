import { hashLeaf } from './hash-leaf.js';
import type { BlockOnPath } from './locate-blocks.js';
import { nodesAbove } from './nodes-above.js';
import { splitHashes } from './split-hashes.js';

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
