import { createHash } from 'node:crypto';
import { buildTree, computeRoot, verifyInclusion } from '@vat/evidence/proof';
import { type ClosingFigures, measureClosing } from './measure-closing.js';
import { measurePass, type PassFigures } from './measure-pass.js';

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
