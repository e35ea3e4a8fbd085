import type { AnchorProof, BlockPosition, FindLeaves, ProveChecks, ReadBlocks } from '@vat/domain';
import { type BlockOnPath, type BlockRows, blockRows, locateBlocks, siblingsIn } from '../tree/tree-blocks.js';
import { type Anchor, evaluateAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';

/** The end of a chain: the last anchor's `seq` and hash. */
export type ChainEnd = Pick<Anchor, 'seq' | 'closed_at'> & { hash: string };

/** One fault. `index` is the position of the anchor in the input, from 0; `seq` is the value in the anchor. */
export type ChainFault = {
  index: number;
  seq: number | null;
  fault: 'ill_formed' | 'wrong_seq' | 'wrong_prev_anchor_hash' | 'closed_too_early';
  /** One sentence for the operator. */
  detail: string;
};

/** The result of verifying a chain, which is valid if there are no faults. `end` is null if there are no anchors. */
export type ChainReport = { anchors: number; end: ChainEnd | null; faults: ChainFault[] };

const differences = (anchor: Anchor, before: ChainEnd | null) => {
  const seq = (before?.seq ?? 0) + 1;
  const hash = before?.hash ?? NO_ANCHOR_HASH;
  return [
    anchor.seq === seq ? null : (['wrong_seq', `seq is ${anchor.seq} where ${seq} follows`] as const),
    anchor.prev_anchor_hash === hash
      ? null
      : (['wrong_prev_anchor_hash', `prev_anchor_hash is ${anchor.prev_anchor_hash}, not ${hash}`] as const),
    before === null || anchor.closed_at >= before.closed_at
      ? null
      : (['closed_too_early', `closed ${anchor.closed_at}, before its predecessor (${before.closed_at})`] as const),
  ].filter((difference) => difference !== null);
};

/**
 * Recomputes the chain over `anchors` (oldest first, without gaps) and reports every fault. `after` is the end of a chain
 * that was verified earlier, to continue from there. A changed anchor is reported at the next one, whose link does not
 * match any more; a change of the newest anchor is visible only in its time-stamp.
 */
export const verifyAnchorChain = async (
  anchors: AsyncIterable<Anchor> | Iterable<Anchor>,
  after: ChainEnd | null = null,
): Promise<ChainReport> => {
  const faults: ChainFault[] = [];
  let end = after;
  let index = 0;
  for await (const anchor of anchors) {
    const wrong = evaluateAnchor(anchor);
    if (wrong === null) {
      for (const [fault, detail] of differences(anchor, end)) faults.push({ index, seq: anchor.seq, fault, detail });
      end = { seq: anchor.seq, closed_at: anchor.closed_at, hash: hashAnchor(anchor) };
    } else {
      faults.push({ index, seq: null, fault: 'ill_formed', detail: `not an anchor: ${wrong}` });
    }
    index += 1;
  }
  return { anchors: index, end, faults };
};

type ProveChecksDeps = { findLeaves: FindLeaves; readBlocks: ReadBlocks };
type WantedBlock = BlockPosition & Pick<BlockOnPath, 'nodes'>;

const keyOf = ({ seq, level, index }: BlockPosition): string => `${seq} ${level} ${index}`;

/**
 * Makes the inclusion proofs of checks. Each proof needs one block of 64 nodes from each stored level. All blocks are read
 * together, and shared blocks are read and hashed once. Throws if a tree is incomplete.
 */
export const proveChecks =
  ({ findLeaves, readBlocks }: ProveChecksDeps): ProveChecks =>
  async (checkIds) => {
    if (checkIds.length === 0) return new Map();
    const found = await findLeaves(checkIds);
    const paths = found.map(({ checkId, hash: _hash, ...leaf }) => {
      const blocks = locateBlocks(leaf.treeSize, leaf.leafIndex);
      return { checkId, leaf, blocks: blocks.map((block) => ({ ...block, seq: leaf.seq })) };
    });
    const wanted = new Map<string, WantedBlock>(paths.flatMap(({ blocks }) => blocks.map((one) => [keyOf(one), one])));
    const stored = await readBlocks([...wanted.values()]);
    const rows = new Map<string, BlockRows>();
    for (const [position, block] of [...wanted.values()].entries())
      rows.set(keyOf(block), blockRows(block, stored[position] ?? new Uint8Array()));
    return new Map(
      paths.map(({ checkId, leaf, blocks }): [string, AnchorProof] => [
        checkId,
        { ...leaf, path: blocks.flatMap((block) => siblingsIn(rows.get(keyOf(block)) ?? [], block.at)) },
      ]),
    );
  };
