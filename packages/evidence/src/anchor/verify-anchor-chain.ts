import type { AnchorProof, BlockPosition, FindLeaves, ProveChecks, ReadBlocks } from '@vat/domain';
import { type BlockOnPath, type BlockRows, blockRows, locateBlocks, siblingsIn } from '../tree/tree-blocks.js';
import { type Anchor, evaluateAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';

/** The end of a chain: the last anchor's `seq` and hash. */
export type ChainEnd = Pick<Anchor, 'seq' | 'closed_at'> & { hash: string };

/** One difference. `place` counts the anchors given from 0; `seq` is what the anchor there calls itself. */
export type ChainFault = {
  place: number;
  seq: number | null;
  fault: 'ill_formed' | 'wrong_seq' | 'wrong_prev_anchor_hash' | 'closed_too_early';
  /** One sentence for a person. */
  detail: string;
};

/** What a walk over a chain found; it holds when there are no faults. `end` is null for no anchors. */
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
 * Recomputes the chain over `anchors` (oldest first, nothing left out) and tells every difference. `after` is the end of
 * a chain verified earlier, to go on from there. One changed anchor is told at the next one, whose link no longer fits:
 * the newest is held by its time-stamp alone.
 */
export const verifyAnchorChain = async (
  anchors: AsyncIterable<Anchor> | Iterable<Anchor>,
  after: ChainEnd | null = null,
): Promise<ChainReport> => {
  const faults: ChainFault[] = [];
  let end = after;
  let place = 0;
  for await (const anchor of anchors) {
    const wrong = evaluateAnchor(anchor);
    if (wrong === null) {
      for (const [fault, detail] of differences(anchor, end)) faults.push({ place, seq: anchor.seq, fault, detail });
      end = { seq: anchor.seq, closed_at: anchor.closed_at, hash: hashAnchor(anchor) };
    } else {
      faults.push({ place, seq: null, fault: 'ill_formed', detail: `not an anchor: ${wrong}` });
    }
    place += 1;
  }
  return { anchors: place, end, faults };
};

type ProveChecksDeps = { findLeaves: FindLeaves; readBlocks: ReadBlocks };
type WantedBlock = BlockPosition & Pick<BlockOnPath, 'nodes'>;

const keyOf = ({ seq, level, place }: BlockPosition): string => `${seq} ${level} ${place}`;

/**
 * Makes the inclusion proofs of checks from one block of 64 of each stored level; blocks that they share are read and hashed
 * once, and all of them are read together. Throws where a tree is not whole.
 */
export const proveChecks =
  ({ findLeaves, readBlocks }: ProveChecksDeps): ProveChecks =>
  async (checkIds) => {
    if (checkIds.length === 0) return new Map();
    const found = await findLeaves(checkIds);
    const ways = found.map(({ checkId, hash: _hash, ...leaf }) => {
      const blocks = locateBlocks(leaf.treeSize, leaf.leafIndex);
      return { checkId, leaf, blocks: blocks.map((block) => ({ ...block, seq: leaf.seq })) };
    });
    const wanted = new Map<string, WantedBlock>(ways.flatMap(({ blocks }) => blocks.map((one) => [keyOf(one), one])));
    const stored = await readBlocks([...wanted.values()]);
    const rows = new Map<string, BlockRows>();
    for (const [position, block] of [...wanted.values()].entries())
      rows.set(keyOf(block), blockRows(block, stored[position] ?? new Uint8Array()));
    return new Map(
      ways.map(({ checkId, leaf, blocks }): [string, AnchorProof] => [
        checkId,
        { ...leaf, path: blocks.flatMap((block) => siblingsIn(rows.get(keyOf(block)) ?? [], block.at)) },
      ]),
    );
  };
