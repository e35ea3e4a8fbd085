import type {
  BlockPosition,
  FindAnchor,
  FindLeaves,
  ListAnchors,
  ReadBlock,
  ReadBlocks,
  StoredAnchor,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import type { Reader } from '../connect-reader.js';
import { Prisma } from '../generated/client.js';
import { FACTS_COLUMNS, type FactsRow, factsOfRow } from './timestamps.js';

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

/** One anchor; `null` when there is none. */
export const findAnchor =
  (db: Queryable): FindAnchor =>
  async (id) => {
    const [row] = await db.$queryRaw<AnchorRow[]>`SELECT ${ANCHOR_COLUMNS} FROM ${ANCHORS} WHERE a.id = ${id}::uuid`;
    return row ? anchorOfRow(row) : null;
  };

/** Anchors, newest first. */
export const listAnchors =
  (db: Queryable): ListAnchors =>
  async (beforeSeq, limit) => {
    const before = beforeSeq === null ? Prisma.empty : Prisma.sql`WHERE a.seq < ${beforeSeq}::int`;
    const rows = await db.$queryRaw<AnchorRow[]>`
      SELECT ${ANCHOR_COLUMNS} FROM ${ANCHORS} ${before} ORDER BY a.seq DESC LIMIT ${limit}::int`;
    return rows.map(anchorOfRow);
  };

type LeafRow = {
  check_id: string;
  anchor_id: string;
  seq: number;
  leaf_index: number;
  tree_size: number;
  hash: Uint8Array;
};

/**
 * The leaves of those checks that are anchored. The leaves are read before the join: right after a large anchor was closed,
 * the statistics still show the index of anchored leaves as almost empty, and Postgres would scan all of it (84 ms for a
 * million leaves).
 */
export const findLeaves =
  (db: Reader): FindLeaves =>
  async (checkIds) => {
    const rows = await db.$queryRaw<LeafRow[]>`
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

/** Nodes per block, as in the tree builder. */
const BLOCK_NODES = 64;

type BlockRow = { position: number; hashes: Uint8Array | null };

/** Reads blocks of anchors' trees; a missing block is empty. Level 0: the leaves. */
export const readBlocks =
  (db: Reader): ReadBlocks =>
  async (blocks) => {
    const column = (name: keyof BlockPosition) => blocks.map((block) => block[name]);
    const rows = await db.$queryRaw<BlockRow[]>`
      SELECT (b.position - 1)::int AS position, found.hashes
      FROM unnest(${column('seq')}::int[], ${column('level')}::int[], ${column('index')}::int[])
        WITH ORDINALITY AS b(seq, level, index, position),
      LATERAL (
        SELECT string_agg(l.hash, ''::bytea ORDER BY l.leaf_index) AS hashes FROM anchor_leaf l
        WHERE b.level = 0 AND l.anchor_seq = b.seq AND l.leaf_index >= b.index * ${BLOCK_NODES}::int
          AND l.leaf_index < (b.index + 1) * ${BLOCK_NODES}::int
        HAVING b.level = 0
        UNION ALL
        SELECT n.hashes FROM anchor_node n
        WHERE b.level > 0 AND n.anchor_seq = b.seq AND n.level = b.level AND n.place = b.index
      ) AS found`;
    const read: Uint8Array[] = blocks.map(() => new Uint8Array());
    for (const { position, hashes } of rows) if (hashes) read[position] = hashes;
    return read;
  };

/** Reads one block of an anchor's tree; a missing block is empty. Level 0: the leaves. */
export const readBlock =
  (db: Queryable): ReadBlock =>
  async (block) =>
    (await readBlocks(db)([block]))[0] ?? new Uint8Array();
