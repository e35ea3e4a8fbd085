import type { AnchorClosing, CloseAlone, NewAnchor } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { NIL } from '../uuid-bounds.js';

/** The two numbers of the advisory lock for closing an anchor. */
const CLOSER_LOCK = { of: 0x5107_0001, which: 1 };
/** Enough for a million leaves on a busy machine. The time-out of the pool applies to each statement. */
const TRANSACTION_MS = 600_000;
const BLOCK_BYTES = 64 * 32;

const blocksOf = ({ seq, nodes }: NewAnchor) =>
  [...nodes].flatMap(([level, hashes]) =>
    Array.from({ length: Math.ceil(hashes.length / BLOCK_BYTES) }, (_, place) => ({
      seq,
      level,
      place,
      hashes: Buffer.from(hashes.subarray(place * BLOCK_BYTES, (place + 1) * BLOCK_BYTES)).toString('hex'),
    })),
  );

const closing = (tx: Queryable, previous: Uint8Array | null): AnchorClosing => {
  // Leaves are read in the order of their check's id. A leaf with a lower id that is committed later waits for the next
  // anchor: finding it here would scan all leaves that were read before.
  let after = NIL;
  return {
    previous,
    take: async (seq, from, limit) => {
      const [page] = await tx.$queryRaw<{ hashes: Uint8Array | null; last: string | null }[]>`
        WITH slice AS MATERIALIZED (
          SELECT check_id, hash, (row_number() OVER (ORDER BY check_id))::int - 1 AS place FROM (
            SELECT check_id, hash FROM anchor_leaf WHERE anchor_seq IS NULL AND check_id > ${after}::uuid
            ORDER BY check_id LIMIT ${limit}::int) AS next
        ), placed AS (
          UPDATE anchor_leaf l SET anchor_seq = ${seq}::int, leaf_index = ${from}::int + s.place
          FROM slice s WHERE l.check_id = s.check_id
        )
        SELECT string_agg(hash, ''::bytea ORDER BY place) AS hashes,
          (SELECT check_id FROM slice ORDER BY place DESC LIMIT 1) AS last
        FROM slice`;
      after = page?.last ?? after;
      return page?.hashes ?? new Uint8Array();
    },
    write: async (anchor) => {
      await tx.$executeRaw`
        INSERT INTO anchor (id, seq, closed_at, tree_size, root, prev_anchor_hash, body, hash)
        VALUES (${anchor.id}::uuid, ${anchor.seq}::int, ${anchor.closedAt}::timestamptz, ${anchor.treeSize}::int,
          ${anchor.root}, ${anchor.prevAnchorHash}, ${anchor.body}, ${anchor.hash})`;
      await tx.$executeRaw`
        INSERT INTO anchor_node (anchor_seq, level, place, hashes)
        SELECT n.seq, n.level, n.place, decode(n.hashes, 'hex')
        FROM jsonb_to_recordset(${JSON.stringify(blocksOf(anchor))}::jsonb) AS n(seq int, level int, place int, hashes text)`;
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
        const [lock] = await tx.$queryRaw<{ taken: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${CLOSER_LOCK.of}::int, ${CLOSER_LOCK.which}::int) AS taken`;
        if (!lock?.taken) return null;
        const [newest] = await tx.$queryRaw<{ body: Uint8Array }[]>`SELECT body FROM anchor ORDER BY seq DESC LIMIT 1`;
        return { done: await work(closing(tx, newest?.body ?? null)) };
      },
      { timeout: TRANSACTION_MS },
    );
