import type { FindEvidence } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { FACTS_COLUMNS, type FactsRow, factsOfRow } from './stamp-row.js';

type Row = FactsRow & {
  check_id: string;
  anchor_id: string | null;
  seq: number | null;
  leaf_index: number | null;
  tree_size: number | null;
};

/** What checks show of their evidence. The caller has read them as its own. */
export const findEvidence =
  (db: Queryable): FindEvidence =>
  async (checkIds) => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT c.check_id, a.id AS anchor_id, a.seq, l.leaf_index, a.tree_size, ${FACTS_COLUMNS}
      FROM unnest(${[...checkIds]}::uuid[]) AS c(check_id)
      LEFT JOIN anchor_leaf l ON l.check_id = c.check_id LEFT JOIN anchor a ON a.seq = l.anchor_seq
      LEFT JOIN stamp s ON s.subject_id = c.check_id`;
    return new Map(
      rows.map(({ check_id, anchor_id, seq, leaf_index, tree_size, ...facts }) => [
        check_id,
        {
          stamp: factsOfRow(facts),
          anchor:
            anchor_id === null || seq === null || leaf_index === null || tree_size === null
              ? null
              : { anchorId: anchor_id, seq, leafIndex: leaf_index, treeSize: tree_size },
        },
      ]),
    );
  };
