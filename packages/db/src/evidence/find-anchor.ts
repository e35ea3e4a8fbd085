import type { FindAnchor } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { ANCHOR_COLUMNS, ANCHORS, type AnchorRow, anchorOfRow } from './anchor-row.js';

/** One anchor. */
export const findAnchor =
  (db: Queryable): FindAnchor =>
  async (id) => {
    const [row] = await db.$queryRaw<AnchorRow[]>`SELECT ${ANCHOR_COLUMNS} FROM ${ANCHORS} WHERE a.id = ${id}::uuid`;
    return row ? anchorOfRow(row) : null;
  };
