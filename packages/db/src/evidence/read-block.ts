import type { ReadBlock } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Nodes of a block, as the tree builder makes them. */
const BLOCK_NODES = 64;

/** Reads a block of an anchor's tree; empty when there is none. Level 0: the leaves themselves. */
export const readBlock =
  (db: Queryable): ReadBlock =>
  async ({ seq, level, place }) => {
    const from = place * BLOCK_NODES;
    const [row] =
      level === 0
        ? await db.$queryRaw<{ hashes: Uint8Array | null }[]>`
            SELECT string_agg(hash, ''::bytea ORDER BY leaf_index) AS hashes FROM anchor_leaf
            WHERE anchor_seq = ${seq}::int AND leaf_index >= ${from}::int AND leaf_index < ${from + BLOCK_NODES}::int`
        : await db.$queryRaw<{ hashes: Uint8Array }[]>`
            SELECT hashes FROM anchor_node
            WHERE anchor_seq = ${seq}::int AND level = ${level}::int AND place = ${place}::int`;
    return row?.hashes ?? new Uint8Array();
  };
