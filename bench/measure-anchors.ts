import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { auditAnchors, closeAlone, findLeaves, readBlocks } from '@vat/db';
import { closeNextAnchor, openTreeBuilder, proveChecks, verifyAnchors, verifyInclusion } from '@vat/evidence/proof';
import { cloneDatabase } from '@vat/testkit';
import { type Percentiles, percentiles, renderTable } from './measuring.js';
import { connectBench } from './open-world.js';

/** Figures of one pass over all leaves. */
type PassFigures = {
  seconds: number;
  /** Maximum memory above the memory before, in MB. */
  rss_mb: number;
  /** The longest turn of the event loop. */
  longest_turn_ms: number;
};

/** Runs `work` and measures it. */
const measurePass = async <T>(work: () => Promise<T>): Promise<{ result: T; figures: PassFigures }> => {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  delay.disable();
  clearInterval(watch);
  return { result, figures: { seconds, rss_mb: (peak - before) / 1e6, longest_turn_ms: delay.max / 1e6 } };
};

type ClosingFigures = {
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
const measureClosing = async (leaves: number): Promise<ClosingFigures> => {
  const cloned = await cloneDatabase();
  const { db, close } = connectBench(cloned.url, { maxConnections: 4 });
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

export type AnchorsFigures = {
  leaves: number;
  /** The tree alone, its leaves made in memory. */
  tree: PassFigures;
  /** The same on Postgres, with the code of the service. */
  stored: ClosingFigures;
};

/** Leaves that are added between two turns of the event loop, as the service does. */
const PAGE = 1_000;

const buildTree = async (leaves: number) => {
  const tree = openTreeBuilder();
  for (let from = 0; from < leaves; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, leaves - from) }, (_, n) =>
      createHash('sha256')
        .update(String(from + n))
        .digest(),
    );
    tree.add(Buffer.concat(page));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return tree.finish();
};

/** Time and memory of the tree of one anchor. Throws if a proof is invalid, because the figures would be meaningless. */
export const measureAnchors = async (leaves: number): Promise<AnchorsFigures> => {
  const { figures: tree } = await measurePass(() => buildTree(leaves));
  return { leaves, tree, stored: await measureClosing(leaves) };
};

/** The part of the report about anchors. */
export const renderAnchors = ({ leaves, tree, stored }: AnchorsFigures): string[] => {
  const row = (name: string, { seconds, rss_mb, longest_turn_ms }: PassFigures) => [
    name,
    seconds.toFixed(1),
    Math.round(rss_mb),
    longest_turn_ms.toFixed(0),
  ];
  return [
    `### The tree of an anchor of ${leaves} checks`,
    renderTable(
      ['', 'seconds', 'additional memory (MB)', 'longest turn of the event loop (ms)'],
      [
        row('the tree alone, leaves in memory', tree),
        row('closing on Postgres', stored.closing),
        row('recomputing from Postgres', stored.recomputing),
      ],
    ),
    `One proof from Postgres p50 ${stored.proof.p50} ms, p95 ${stored.proof.p95} ms, its verification ${stored.verify_us.toFixed(1)} µs.`,
    `On disk ${stored.bytes_per_leaf} bytes per leaf with its indexes, ${stored.bytes_of_nodes_per_leaf} for stored nodes.`,
  ];
};
