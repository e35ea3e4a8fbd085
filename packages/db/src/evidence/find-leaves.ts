import type { FindLeaves } from '@vat/domain';
import type { Reader } from '../connect-reader.js';

type Row = {
  check_id: string;
  anchor_id: string;
  seq: number;
  leaf_index: number;
  tree_size: number;
  hash: Uint8Array;
};

/**
 * The leaves of those of the checks that are anchored. They are read before the join: right after a large anchor has closed,
 * Postgres still takes the index of anchored leaves to be all but empty, and would walk over all of it (84 ms in a million).
 */
export const findLeaves =
  (db: Reader): FindLeaves =>
  async (checkIds) => {
    const rows = await db.$queryRaw<Row[]>`
      WITH l AS MATERIALIZED (
        SELECT check_id, anchor_seq, leaf_index, hash FROM anchor_leaf WHERE check_id = ANY(${[...checkIds]}::uuid[])
      )
      SELECT l.check_id, a.id AS anchor_id, a.seq, l.leaf_index, a.tree_size, l.hash
      FROM l JOIN anchor a ON a.seq = l.anchor_seq`;
    return rows.map((row) => ({
      checkId: row.check_id,
      anchorId: row.anchor_id,
      seq: row.seq,
      leafIndex: row.leaf_index,
      treeSize: row.tree_size,
      hash: row.hash,
    }));
  };
