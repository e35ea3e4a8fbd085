import type { BlockPosition, FindAnchor, FindLeaves, ListAnchors, ReadBlock, ReadBlocks } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, type Reader, type RowOf, selectList } from '../query.js';
import { MAX_ID, NIL } from '../uuid-bounds.js';
import { FACTS, FACTS_LIST, splitFacts } from './timestamps.js';

const ANCHOR = columns({
  id: 'uuid',
  ...all('int4', 'seq', 'treeSize'),
  closedAt: 'timestamptz',
  ...all('bytea', 'root', 'prevAnchorHash', 'body', 'hash'),
});

/** A row of {@link ANCHORS}: an anchor with the facts of its stamp. */
export const STAMPED_ANCHOR = columns({ ...ANCHOR, ...FACTS });
export const ANCHOR_LIST = Prisma.sql`${selectList('a', ANCHOR)}, ${FACTS_LIST}`;
export const ANCHORS = Prisma.sql`anchor a LEFT JOIN stamp s ON s.subject_id = a.id AND s.kind = 'anchor'`;

export const anchorOfRow = <R extends RowOf<typeof STAMPED_ANCHOR>>(row: R) => {
  const { facts: stamp, rest } = splitFacts(row);
  return { ...rest, stamp };
};

/** One anchor; `null` when there is none. */
export const findAnchor =
  (db: Queryable): FindAnchor =>
  async (id) => {
    const [row] = await query(db, STAMPED_ANCHOR)`SELECT ${ANCHOR_LIST} FROM ${ANCHORS} WHERE a.id = ${id}::uuid`;
    return row ? anchorOfRow(row) : null;
  };

export const listAnchors =
  (db: Queryable): ListAnchors =>
  async (beforeSeq, limit) => {
    const before = beforeSeq === null ? Prisma.empty : Prisma.sql`WHERE a.seq < ${beforeSeq}::int`;
    const rows = await query(db, STAMPED_ANCHOR)`
      SELECT ${ANCHOR_LIST} FROM ${ANCHORS} ${before} ORDER BY a.seq DESC LIMIT ${limit}::int`;
    return rows.map(anchorOfRow);
  };

const LEAF = columns({
  ...all('uuid', 'checkId', 'anchorId'),
  ...all('int4', 'seq', 'treeSize'),
  leafIndex: 'int4!',
  hash: 'bytea',
});

/**
 * The leaves of those checks that are anchored. The leaves are read before the join: right after a large anchor was closed,
 * the statistics still show the index of anchored leaves as almost empty, and Postgres would scan all of it (84 ms for a
 * million leaves).
 */
export const findLeaves =
  (db: Reader): FindLeaves =>
  async (checkIds) => {
    return query(db, LEAF)`
      WITH l AS MATERIALIZED (
        SELECT check_id, anchor_seq, leaf_index, hash FROM anchor_leaf WHERE ${isOneOf(Prisma.sql`check_id`, checkIds)}
      )
      SELECT l.check_id AS "checkId", a.id AS "anchorId", a.seq, l.leaf_index AS "leafIndex", a.tree_size AS "treeSize",
        l.hash
      FROM l JOIN anchor a ON a.seq = l.anchor_seq`;
  };

/** Nodes per block, as in the tree builder. */
const BLOCK_NODES = 64;

/** Reads blocks of anchors' trees; a missing block is empty. Level 0: the leaves. */
export const readBlocks =
  (db: Reader): ReadBlocks =>
  async (blocks) => {
    const column = (name: keyof BlockPosition) => blocks.map((block) => block[name]);
    const rows = await query(db, { position: 'int4', hashes: 'bytea?' })`
      SELECT (b.position - 1)::int AS position, found.hashes
      FROM (
        SELECT w.seq, w.level, w.index, w.position, COALESCE(a.first_leaf, ${NIL}::uuid) AS first_leaf,
          COALESCE(a.last_leaf, ${MAX_ID}::uuid) AS last_leaf
        FROM unnest(${column('seq')}::int[], ${column('level')}::int[], ${column('index')}::int[])
          WITH ORDINALITY AS w(seq, level, index, position) LEFT JOIN anchor a ON a.seq = w.seq
      ) AS b,
      LATERAL (
        SELECT string_agg(l.hash, ''::bytea ORDER BY l.leaf_index) AS hashes FROM anchor_leaf l
        WHERE b.level = 0 AND l.anchor_seq = b.seq AND l.check_id BETWEEN b.first_leaf AND b.last_leaf AND l.leaf_index >= b.index * ${BLOCK_NODES}::int
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
