import type { AnchorProof, BlockPosition, FindLeaves, ProveChecks, ReadBlocks } from '@vat/domain';
import { type BlockOnPath, type BlockRows, blockRows, locateBlocks, siblingsIn } from './tree-blocks.js';

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
