import { createHash } from 'node:crypto';
import { buildTree, computeRoot, verifyInclusion } from '@vat/evidence/proof';
import { type ClosingFigures, measureClosing } from './measure-closing.js';
import { measurePass, type PassFigures } from './measure-pass.js';
import { renderTable } from './render-table.js';

export type AnchorsFigures = {
  leaves: number;
  /** Only the root, from streamed leaves. */
  root: PassFigures;
  /** The complete tree, which can prove any leaf. */
  tree: PassFigures;
  /** One proof from the tree, and its verification. */
  path_us: number;
  verify_us: number;
  /** The same on Postgres, with the code of the service. */
  stored: ClosingFigures;
};

const SAMPLES = 20_000;

/** The i-th leaf, computed on demand, so that only the tree takes memory. */
const leafOf = (i: number) => createHash('sha256').update(String(i)).digest();
function* leavesUpTo(count: number) {
  for (let i = 0; i < count; i += 1) yield leafOf(i);
}

const microsecondsEach = (work: (i: number) => unknown): number => {
  const startedAt = performance.now();
  for (let i = 0; i < SAMPLES; i += 1) work(i);
  return ((performance.now() - startedAt) * 1_000) / SAMPLES;
};

/** Time and memory of the tree of one anchor. Throws if a proof is invalid, because the figures would be meaningless. */
export const measureAnchors = async (leaves: number): Promise<AnchorsFigures> => {
  const { result: head, figures: root } = await measurePass(() => computeRoot(leavesUpTo(leaves)));
  const { result: tree, figures } = await measurePass(() => buildTree(leavesUpTo(leaves), leaves));
  if (!head.root.equals(tree.root)) throw new Error('the streamed root is not that of the tree');
  const indexOf = (sample: number) => Math.floor((sample * leaves) / SAMPLES);
  const claims = Array.from({ length: SAMPLES }, (_, sample) => {
    const index = indexOf(sample);
    return { leaf: leafOf(index), index, size: leaves, path: tree.path(index), root: tree.root };
  });
  if (!claims.every(verifyInclusion)) throw new Error('a proof is invalid');
  return {
    leaves,
    root,
    tree: figures,
    path_us: microsecondsEach((sample) => tree.path(indexOf(sample))),
    stored: await measureClosing(leaves),
    verify_us: microsecondsEach((sample) => claims[sample] && verifyInclusion(claims[sample])),
  };
};

/** The part of the report about anchors. */
export const renderAnchors = ({ leaves, root, tree, path_us, verify_us, stored }: AnchorsFigures): string[] => {
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
        row('root, streamed', root),
        row('tree for proofs', tree),
        row('closing on Postgres', stored.closing),
        row('recomputing from Postgres', stored.recomputing),
      ],
    ),
    `One proof ${path_us.toFixed(1)} µs, its verification ${verify_us.toFixed(1)} µs; one proof from Postgres p50 ${stored.proof.p50} ms, p95 ${stored.proof.p95} ms.`,
    `On disk ${stored.bytes_per_leaf} bytes per leaf with its indexes, ${stored.bytes_of_nodes_per_leaf} for stored nodes.`,
  ];
};
