import type { AnchorAudit, LeafDifference, LeafFault, StampFacts } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { all, columns, query, typed } from '../query.js';
import { MAX_ID, NIL } from '../uuid-bounds.js';
import { ANCHOR_LIST, ANCHORS, anchorOfRow, readBlock, STAMPED_ANCHOR } from './anchors.js';
import { FACTS, FACTS_LIST, splitFacts } from './timestamps.js';

const LEAF_PAGE = columns({
  hashes: 'bytea?',
  n: 'int4',
  last: 'int4?',
  ranged: 'bool?',
  more: 'bool',
  differing: typed<LeafDifference[] | null>('jsonb?'),
});
const CHECK_STAMP = columns({
  subjectId: 'uuid',
  digest: 'bytea',
  token: 'bytea!',
  ...all('bytea?', 'checkHash', 'checkBody'),
  checkedAt: 'timestamptz?',
  anchorSeq: 'int4?',
  ...FACTS,
});

/** The lowest value of the column. */
const LOWEST_PLACE = -(2 ** 31);

/** The tolerated difference between the clocks of two processes; dossiers use the same value. */
const MAX_CLOCK_SKEW = '6 minutes';

/**
 * Reads anchors, leaves and checks for the audit. Each page is one statement and therefore one snapshot: a check that is
 * recorded, anchored or deleted at the same time is either fully visible or not at all. Postgres hashes the bodies, since
 * they are most of the data.
 */
export const auditAnchors = (db: Queryable): AnchorAudit => ({
  anchors: async (afterSeq, limit) => {
    const rows = await query(db, { ...STAMPED_ANCHOR, token: 'bytea?', stampDigest: 'bytea?' })`
      SELECT ${ANCHOR_LIST}, s.token, s.digest AS "stampDigest" FROM ${ANCHORS}
      WHERE a.seq > ${afterSeq}::int ORDER BY a.seq LIMIT ${limit}::int`;
    return rows.map(anchorOfRow);
  },

  leaves: async (seq, from, limit) => {
    // No index is unique: no place before the first page is left out, and no second leaf of a place. A page is a range of places and
    // no number of rows: until statistics are made of a new anchor, Postgres expects few leaves and would sort all of them for each page.
    // The limit is for places with many leaves: one more than there are places shows that the page is not whole.
    const [row] = await query(db, LEAF_PAGE)`
      WITH slice AS MATERIALIZED (
        SELECT check_id, leaf_index, hash FROM anchor_leaf
        WHERE anchor_seq = ${seq}::int AND leaf_index >= ${from === 0 ? LOWEST_PLACE : from}::int
          AND leaf_index < ${from + limit}::int
        LIMIT ${limit + 1}::int
      )
      SELECT string_agg(slice.hash, ''::bytea ORDER BY leaf_index) AS hashes, count(*)::int AS n, max(leaf_index) AS last,
        -- Only after a page that is not full. Without an order Postgres, if it expects many, looks for one from the first leaf of all.
        count(*) < ${limit}::int AND (
          SELECT leaf_index FROM anchor_leaf WHERE anchor_seq = ${seq}::int AND leaf_index >= ${from + limit}::int
          ORDER BY leaf_index LIMIT 1
        ) IS NOT NULL AS more,
        -- Proofs read this range alone.
        bool_and(slice.check_id BETWEEN COALESCE(a.first_leaf, ${NIL}::uuid) AND COALESCE(a.last_leaf, ${MAX_ID}::uuid))
          AS ranged, (
          SELECT jsonb_agg(jsonb_build_object('checkId', c.id,
            'of', CASE WHEN c.hash <> s.hash THEN 'hash' WHEN sha256(c.body) <> s.hash THEN 'body' ELSE 'time' END)
            ORDER BY s.leaf_index)
          FROM slice s JOIN "check" c ON c.id = s.check_id
          WHERE c.hash <> s.hash OR sha256(c.body) <> s.hash
            OR c.checked_at > (SELECT closed_at + ${MAX_CLOCK_SKEW}::interval FROM anchor WHERE seq = ${seq}::int)
        ) AS differing
      FROM slice LEFT JOIN anchor a ON a.seq = ${seq}::int`;
    return {
      hashes: row?.hashes ?? new Uint8Array(),
      whole: row === undefined || (row.n === (row.last === null ? 0 : row.last + 1 - from) && !row.more),
      ranged: row?.ranged ?? true,
      differing: row?.differing ?? [],
    };
  },

  readBlock: readBlock(db),

  leavesBeyond: async () => {
    const [row] = await query(db, { n: 'int4' })`
      SELECT count(*)::int AS n FROM anchor_leaf WHERE anchor_seq > (SELECT COALESCE(max(seq), 0) FROM anchor)`;
    return row?.n ?? 0;
  },

  leafFaults: async (afterCheckId, limit) => {
    const [row] = await query(db, { faults: typed<LeafFault[] | null>('jsonb?'), n: 'int4', last: 'uuid?' })`
      WITH slice AS MATERIALIZED (
        SELECT id, test, hash, body FROM "check" WHERE id > ${afterCheckId ?? NIL}::uuid ORDER BY id LIMIT ${limit}::int
      ), faulty AS (
        SELECT c.id, CASE
            WHEN l.check_id IS NULL THEN 'no_leaf'
            WHEN l.anchor_seq IS NULL AND (l.hash <> c.hash OR sha256(c.body) <> l.hash) THEN 'unanchored_differs'
            WHEN l.anchor_seq IS NOT NULL AND a.seq IS NULL THEN 'unknown_anchor'
          END AS kind
        FROM slice c
        -- LIMIT: one lookup of the index for each check, whatever their number is expected to be.
        LEFT JOIN LATERAL (SELECT check_id, anchor_seq, hash FROM anchor_leaf WHERE check_id = c.id LIMIT 1) l ON true
        LEFT JOIN anchor a ON a.seq = l.anchor_seq
        WHERE NOT c.test
      )
      SELECT (SELECT jsonb_agg(jsonb_build_object('checkId', id, 'kind', kind) ORDER BY id) FROM faulty
          WHERE kind IS NOT NULL) AS faults, count(*)::int AS n,
        (SELECT id FROM slice ORDER BY id DESC LIMIT 1) AS last
      FROM slice`;
    return { faults: row?.faults ?? [], next: row && row.n === limit ? row.last : null };
  },

  checkStamps: async (afterId, limit) => {
    const rows = await query(db, CHECK_STAMP)`
      SELECT s.subject_id AS "subjectId", s.digest, s.token, c.hash AS "checkHash", c.body AS "checkBody",
        c.checked_at AS "checkedAt", l.anchor_seq AS "anchorSeq", ${FACTS_LIST}
      FROM stamp s LEFT JOIN "check" c ON c.id = s.subject_id
        LEFT JOIN LATERAL (SELECT anchor_seq FROM anchor_leaf WHERE check_id = s.subject_id LIMIT 1) l ON true
      WHERE s.kind = 'check' AND s.token IS NOT NULL AND s.subject_id > ${afterId ?? NIL}::uuid
      ORDER BY s.subject_id LIMIT ${limit}::int`;
    return rows.map((row) => {
      const { facts, rest } = splitFacts(row);
      return { ...rest, facts: facts as StampFacts };
    });
  },
});
