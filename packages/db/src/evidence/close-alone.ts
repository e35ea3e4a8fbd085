import type { AnchorClosing, CloseAlone, NewAnchor } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { all, query } from '../query.js';
import { NIL } from '../uuid-bounds.js';

/** The two numbers of the advisory lock for closing an anchor. */
const CLOSER_LOCK = { of: 0x5107_0001, which: 1 };
/** Enough for a million leaves on a busy machine. The time-out of the pool applies to each statement. */
const TRANSACTION_MS = 600_000;
const BLOCK_BYTES = 64 * 32;

const blocksOf = ({ seq, nodes }: NewAnchor) =>
  [...nodes].flatMap(([level, hashes]) =>
    Array.from({ length: Math.ceil(hashes.length / BLOCK_BYTES) }, (_, index) => ({
      seq,
      level,
      index,
      hashes: Buffer.from(hashes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES)).toString('hex'),
    })),
  );

const closing = (tx: Queryable, previous: Uint8Array | null): AnchorClosing => {
  // Leaves are read in the order of their check's id. A leaf with a lower id that is committed later waits for the next
  // anchor: finding it here would scan all leaves that were read before.
  let after = NIL;
  let first: string | null = null;
  return {
    previous,
    take: async (seq, from, limit) => {
      const [page] = await query(tx, { hashes: 'bytea?', ...all('uuid?', 'first', 'last') })`
        WITH page AS MATERIALIZED (
          SELECT check_id, hash, (row_number() OVER (ORDER BY check_id))::int - 1 AS offset_in_page FROM (
            SELECT check_id, hash FROM anchor_leaf WHERE anchor_seq IS NULL AND check_id > ${after}::uuid
            ORDER BY check_id LIMIT ${limit}::int) AS next
        ), placed AS (
          UPDATE anchor_leaf l SET anchor_seq = ${seq}::int, leaf_index = ${from}::int + s.offset_in_page
          -- The array: leaves are found by their index, whatever their number is expected to be.
          FROM page s WHERE l.check_id = s.check_id AND l.check_id = ANY(ARRAY(SELECT check_id FROM page))
            AND l.anchor_seq IS NULL AND l.check_id > ${after}::uuid
        )
        SELECT string_agg(hash, ''::bytea ORDER BY offset_in_page) AS hashes,
          (SELECT check_id FROM page ORDER BY offset_in_page LIMIT 1) AS first,
          (SELECT check_id FROM page ORDER BY offset_in_page DESC LIMIT 1) AS last
        FROM page`;
      first ??= page?.first ?? null;
      after = page?.last ?? after;
      return page?.hashes ?? new Uint8Array();
    },
    write: async (anchor) => {
      await tx.$executeRaw`
        INSERT INTO anchor (id, seq, closed_at, tree_size, root, prev_anchor_hash, body, hash, first_leaf, last_leaf)
        VALUES (${anchor.id}::uuid, ${anchor.seq}::int, ${anchor.closedAt}::timestamptz, ${anchor.treeSize}::int,
          ${anchor.root}, ${anchor.prevAnchorHash}, ${anchor.body}, ${anchor.hash}, ${first}::uuid, ${after}::uuid)`;
      await tx.$executeRaw`
        INSERT INTO anchor_node (anchor_seq, level, place, hashes)
        SELECT n.seq, n.level, n.index, decode(n.hashes, 'hex')
        FROM jsonb_to_recordset(${JSON.stringify(blocksOf(anchor))}::jsonb) AS n(seq int, level int, index int, hashes text)`;
      await tx.$executeRaw`
        INSERT INTO stamp (subject_id, kind, digest, requested_at, next_attempt_at)
        VALUES (${anchor.id}::uuid, 'anchor', ${anchor.hash}, ${anchor.closedAt}::timestamptz,
          ${anchor.closedAt}::timestamptz)`;
    },
  };
};

/**
 * Closes an anchor under a lock that excludes all other processes; `null` when another process holds it. The anchor, the
 * positions of its leaves and its pending time-stamp are written in one transaction, so that a crash leaves no partial anchor.
 */
export const closeAlone =
  (db: Database): CloseAlone =>
  (work) =>
    db.$transaction(
      async (tx) => {
        const [lock] = await query(tx, { taken: 'bool' })`
          SELECT pg_try_advisory_xact_lock(${CLOSER_LOCK.of}::int, ${CLOSER_LOCK.which}::int) AS taken`;
        if (!lock?.taken) return null;
        const [newest] = await query(tx, { body: 'bytea' })`SELECT body FROM anchor ORDER BY seq DESC LIMIT 1`;
        return { done: await work(closing(tx, newest?.body ?? null)) };
      },
      { timeout: TRANSACTION_MS },
    );
