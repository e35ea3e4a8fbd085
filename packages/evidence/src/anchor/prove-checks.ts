import type { AnchorProof, FindLeaves, ProveChecks, ReadBlock } from '@vat/domain';
import { proveLeaf } from '../tree/prove-leaf.js';

type ProveChecksDeps = { findLeaves: FindLeaves; readBlock: ReadBlock };

/** Reads each block once, for all checks of a call. */
const remembering = (readBlock: ReadBlock): ReadBlock => {
  const known = new Map<string, Promise<Uint8Array>>();
  return (block) => {
    const key = `${block.seq} ${block.level} ${block.place}`;
    const found = known.get(key) ?? readBlock(block);
    known.set(key, found);
    return found;
  };
};

/** Makes the inclusion proofs of checks from one block of 64 of each stored level. Throws where a tree is not whole. */
export const proveChecks =
  ({ findLeaves, readBlock }: ProveChecksDeps): ProveChecks =>
  async (checkIds) => {
    const read = remembering(readBlock);
    const proofs = new Map<string, AnchorProof>();
    for (const { checkId, hash: _hash, ...leaf } of await findLeaves(checkIds)) {
      const path = await proveLeaf(leaf.treeSize, leaf.leafIndex, (level, place) =>
        read({ seq: leaf.seq, level, place }),
      );
      proofs.set(checkId, { ...leaf, path });
    }
    return proofs;
  };
