import type { AnchorProof, BlockPlace, FindLeaves, ProveChecks, ReadBlocks } from '@vat/domain';
import { type BlockRows, blockRows, siblingsIn } from '../tree/block-rows.js';
import { type BlockOnPath, locateBlocks } from '../tree/locate-blocks.js';

type ProveChecksDeps = { findLeaves: FindLeaves; readBlocks: ReadBlocks };
type WantedBlock = BlockPlace & Pick<BlockOnPath, 'nodes'>;

const keyOf = ({ seq, level, place }: BlockPlace): string => `${seq} ${level} ${place}`;

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
