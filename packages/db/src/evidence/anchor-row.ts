import type { StoredAnchor } from '@vat/domain';
import { Prisma } from '../generated/client.js';
import { FACTS_COLUMNS, type FactsRow, factsOfRow } from './stamp-row.js';

/** A row of `anchor` (as `a`) with the facts of its stamp (as `s`). */
export type AnchorRow = FactsRow & {
  id: string;
  seq: number;
  closed_at: Date;
  tree_size: number;
  root: Uint8Array;
  prev_anchor_hash: Uint8Array;
  body: Uint8Array;
  hash: Uint8Array;
};

export const ANCHOR_COLUMNS = Prisma.sql`a.id, a.seq, a.closed_at, a.tree_size, a.root, a.prev_anchor_hash, a.body, a.hash,
  ${FACTS_COLUMNS}`;
export const ANCHORS = Prisma.sql`anchor a LEFT JOIN stamp s ON s.subject_id = a.id AND s.kind = 'anchor'`;

export const anchorOfRow = (row: AnchorRow): StoredAnchor => ({
  id: row.id,
  seq: row.seq,
  closedAt: row.closed_at,
  treeSize: row.tree_size,
  root: row.root,
  prevAnchorHash: row.prev_anchor_hash,
  body: row.body,
  hash: row.hash,
  stamp: factsOfRow(row),
});
