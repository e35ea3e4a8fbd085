import { auditAnchors, closeAlone, connectDatabase, findLeaves, readBlocks } from '@vat/db';
import { closeNextAnchor, proveChecks, verifyAnchors, verifyInclusion } from '@vat/evidence/proof';
import { cloneDatabase } from '@vat/testkit';
import { measurePass, type PassFigures } from './measure-pass.js';
import { type Percentiles, percentiles } from './percentiles.js';

export type ClosingFigures = {
  leaves: number;
  /** Reading and indexing the leaves, building the tree and writing the anchor: one transaction on a durable Postgres. */
  closing: PassFigures;
  /** Reading all leaves again and comparing the tree with the stored nodes. */
  recomputing: PassFigures;
  /** Milliseconds of one proof, read from Postgres. */
  proof: Percentiles;
  /** Microseconds of verifying one. */
  verify_us: number;
  /** Bytes per leaf on disk: of its row with its indexes, and of the stored nodes. */
  bytes_per_leaf: number;
  bytes_of_nodes_per_leaf: number;
};

const ROWS_PER_STATEMENT = 50_000;
const PROOFS = 200;

/** Time and memory of closing an anchor of `leaves` checks, of proving some of them and of recomputing all. */
export const measureClosing = async (leaves: number): Promise<ClosingFigures> => {
  const cloned = await cloneDatabase();
  const { db, close } = connectDatabase({
    url: cloned.url,
    maxConnections: 4,
    queryTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-bench',
  });
  try {
    for (let from = 0; from < leaves; from += ROWS_PER_STATEMENT) {
      await db.$executeRaw`
        INSERT INTO anchor_leaf (check_id, hash)
        SELECT (lpad(to_hex(1763600000000 + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' ||
          substr(md5(n::text), 4, 15))::uuid, sha256(n::text::bytea)
        FROM generate_series(${from}::int, ${Math.min(from + ROWS_PER_STATEMENT, leaves) - 1}::int) AS n`;
    }
    await db.$executeRaw`VACUUM ANALYZE anchor_leaf`;
    const now = () => new Date();
    const closing = await measurePass(closeNextAnchor({ closeAlone: closeAlone(db), now, maxLeaves: leaves }));
    if (closing.result.kind !== 'closed' || closing.result.anchor.treeSize !== leaves)
      throw new Error('the anchor does not contain all checks');
    const { root } = closing.result.anchor;

    const prove = proveChecks({ findLeaves: findLeaves(db), readBlocks: readBlocks(db) });
    const times: number[] = [];
    let verifying = 0;
    for (let n = 0; n < PROOFS; n += 1) {
      const [row] = await db.$queryRaw<{ check_id: string; hash: Uint8Array }[]>`
        SELECT check_id, hash FROM anchor_leaf WHERE anchor_seq = 1
          AND leaf_index = ${Math.floor((n * leaves) / PROOFS)}::int`;
      const startedAt = performance.now();
      const proof = (await prove([row?.check_id ?? ''])).get(row?.check_id ?? '');
      times.push(performance.now() - startedAt);
      const claim = proof && row && { leaf: row.hash, index: proof.leafIndex, size: leaves, path: proof.path, root };
      const readAt = performance.now();
      if (!claim || !verifyInclusion(claim)) throw new Error('a proof is invalid');
      verifying += performance.now() - readAt;
    }

    const recomputing = await measurePass(() => verifyAnchors({ audit: auditAnchors(db), now: () => new Date() })());
    if (recomputing.result.differences.length > 0) throw new Error('the recomputation found differences');
    const [size] = await db.$queryRaw<{ leaf: number; node: number }[]>`
      SELECT (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('anchor_leaf'))::float8 AS leaf,
         pg_total_relation_size('anchor_node')::float8 AS node`;
    return {
      leaves,
      closing: closing.figures,
      recomputing: recomputing.figures,
      proof: percentiles(times),
      verify_us: (verifying * 1_000) / PROOFS,
      bytes_per_leaf: Math.round((size?.leaf ?? 0) / leaves),
      bytes_of_nodes_per_leaf: Math.round(((size?.node ?? 0) / leaves) * 10) / 10,
    };
  } finally {
    await close();
    await cloned.drop();
  }
};
