import type { ListAnchors } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { ANCHOR_COLUMNS, ANCHORS, type AnchorRow, anchorOfRow } from './anchor-row.js';

/** Anchors, newest first. */
export const listAnchors =
  (db: Queryable): ListAnchors =>
  async (beforeSeq, limit) => {
    const before = beforeSeq === null ? Prisma.empty : Prisma.sql`WHERE a.seq < ${beforeSeq}::int`;
    const rows = await db.$queryRaw<AnchorRow[]>`
      SELECT ${ANCHOR_COLUMNS} FROM ${ANCHORS} ${before} ORDER BY a.seq DESC LIMIT ${limit}::int`;
    return rows.map(anchorOfRow);
  };
