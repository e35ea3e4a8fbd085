import type { BlockPlace, ReadBlocks } from '@vat/domain';
import type { Reader } from '../connect-reader.js';

/** Nodes of a block, as the tree builder makes them. */
const BLOCK_NODES = 64;

type Row = { position: number; hashes: Uint8Array | null };

/** Reads blocks of anchors' trees; empty where there is none. Level 0: the leaves themselves. */
export const readBlocks =
  (db: Reader): ReadBlocks =>
  async (blocks) => {
    const column = (name: keyof BlockPlace) => blocks.map((block) => block[name]);
    const rows = await db.$queryRaw<Row[]>`
      SELECT (b.position - 1)::int AS position, found.hashes
      FROM unnest(${column('seq')}::int[], ${column('level')}::int[], ${column('place')}::int[])
        WITH ORDINALITY AS b(seq, level, place, position),
      LATERAL (
        SELECT string_agg(l.hash, ''::bytea ORDER BY l.leaf_index) AS hashes FROM anchor_leaf l
        WHERE b.level = 0 AND l.anchor_seq = b.seq AND l.leaf_index >= b.place * ${BLOCK_NODES}::int
          AND l.leaf_index < (b.place + 1) * ${BLOCK_NODES}::int
        HAVING b.level = 0
        UNION ALL
        SELECT n.hashes FROM anchor_node n
        WHERE b.level > 0 AND n.anchor_seq = b.seq AND n.level = b.level AND n.place = b.place
      ) AS found`;
    const read: Uint8Array[] = blocks.map(() => new Uint8Array());
    for (const { position, hashes } of rows) if (hashes) read[position] = hashes;
    return read;
  };
