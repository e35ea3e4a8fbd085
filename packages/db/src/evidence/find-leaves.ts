import type { FindLeaves } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

type Row = {
  check_id: string;
  anchor_id: string;
  seq: number;
  leaf_index: number;
  tree_size: number;
  hash: Uint8Array;
};

/** The leaves of those of the checks that are anchored. */
export const findLeaves =
  (db: Queryable): FindLeaves =>
  async (checkIds) => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT l.check_id, a.id AS anchor_id, a.seq, l.leaf_index, a.tree_size, l.hash
      FROM anchor_leaf l JOIN anchor a ON a.seq = l.anchor_seq WHERE l.check_id = ANY(${[...checkIds]}::uuid[])`;
    return rows.map((row) => ({
      checkId: row.check_id,
      anchorId: row.anchor_id,
      seq: row.seq,
      leafIndex: row.leaf_index,
      treeSize: row.tree_size,
      hash: row.hash,
    }));
  };
