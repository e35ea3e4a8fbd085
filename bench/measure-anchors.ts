import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { buildTree, computeRoot, verifyInclusion } from '@vat/evidence';

/** One way through all leaves. */
export type PassFigures = {
  seconds: number;
  /** The most memory above what the process had before, in MB. */
  rss_mb: number;
  /** The longest time in which nothing else could run. */
  longest_turn_ms: number;
};

export type AnchorsFigures = {
  leaves: number;
  /** The root alone, leaves streamed. */
  root: PassFigures;
  /** The whole tree, from which any leaf is proved. */
  tree: PassFigures;
  /** One proof out of the tree, and its verification. */
  path_us: number;
  verify_us: number;
};

const SAMPLES = 20_000;

/** The i-th leaf: made on the fly, so that only the tree is measured. */
const leafOf = (i: number) => createHash('sha256').update(String(i)).digest();
function* leavesUpTo(count: number) {
  for (let i = 0; i < count; i += 1) yield leafOf(i);
}

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

const microsecondsEach = (work: (i: number) => unknown): number => {
  const startedAt = performance.now();
  for (let i = 0; i < SAMPLES; i += 1) work(i);
  return ((performance.now() - startedAt) * 1_000) / SAMPLES;
};

/** Time and memory of the tree of one anchor. Throws when its proofs do not hold: a wrong tree has no speed. */
export const measureAnchors = async (leaves: number): Promise<AnchorsFigures> => {
  const { result: head, figures: root } = await measurePass(() => computeRoot(leavesUpTo(leaves)));
  const { result: tree, figures } = await measurePass(() => buildTree(leavesUpTo(leaves), leaves));
  if (!head.root.equals(tree.root)) throw new Error('the streamed root is not that of the tree');
  const indexOf = (sample: number) => Math.floor((sample * leaves) / SAMPLES);
  const claims = Array.from({ length: SAMPLES }, (_, sample) => {
    const index = indexOf(sample);
    return { leaf: leafOf(index), index, size: leaves, path: tree.path(index), root: tree.root };
  });
  if (!claims.every(verifyInclusion)) throw new Error('a proof does not hold');
  return {
    leaves,
    root,
    tree: figures,
    path_us: microsecondsEach((sample) => tree.path(indexOf(sample))),
    verify_us: microsecondsEach((sample) => claims[sample] && verifyInclusion(claims[sample])),
  };
};
