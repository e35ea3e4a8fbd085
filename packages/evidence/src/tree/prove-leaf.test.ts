import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { verifyInclusion } from './inclusion.js';
import { buildTree } from './merkle-tree.js';
import { BLOCK_NODES, blockRows, locateBlocks, openTreeBuilder, siblingsIn } from './tree-blocks.js';

const LEAVES = Array.from({ length: 5_000 }, (_, n) => createHash('sha256').update(String(n)).digest());
const leavesOf = (size: number) => LEAVES.slice(0, size);

const blocksOf = (leaves: readonly Uint8Array[], slice: number) => {
  const builder = openTreeBuilder();
  for (let n = 0; n < leaves.length; n += slice) builder.add(Buffer.concat(leaves.slice(n, n + slice)));
  return builder.finish();
};

const readerOf =
  (leaves: readonly Uint8Array[], nodes: Map<number, Uint8Array>) => async (level: number, index: number) => {
    const whole = level === 0 ? Buffer.concat(leaves) : (nodes.get(level) ?? Buffer.alloc(0));
    return whole.subarray(index * BLOCK_NODES * 32, (index + 1) * BLOCK_NODES * 32);
  };

type ReadBlock = ReturnType<typeof readerOf>;
/** The path of a leaf, as `proveChecks` reads it, for one leaf. */
const proveLeaf = async (size: number, index: number, readBlock: ReadBlock): Promise<Uint8Array[]> => {
  const path: Uint8Array[] = [];
  for (const block of locateBlocks(size, index))
    path.push(...siblingsIn(blockRows(block, await readBlock(block.level, block.index)), block.at));
  return path;
};

test('root and paths equal those of the complete tree, for any page size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      async (size, slice, part) => {
        const leaves = leavesOf(size);
        const tree = await buildTree(leaves, size);
        const blocks = blocksOf(leaves, slice);
        expect([blocks.size, blocks.root]).toEqual([tree.size, tree.root]);
        const index = Math.floor(part * size);
        const path = await proveLeaf(size, index, readerOf(leaves, blocks.nodes));
        expect(path).toEqual(tree.path(index));
        expect(verifyInclusion({ leaf: leaves[index] as Buffer, index, size, path, root: blocks.root })).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('every leaf is proved in trees with sizes around the block boundaries', async () => {
  for (const size of [1, 2, 63, 64, 65, 127, 128, 129, 4_095, 4_096, 4_097, 4_161]) {
    const leaves = leavesOf(size);
    const { root, nodes } = blocksOf(leaves, 1_000);
    const steps = size > 200 ? [0, 1, 63, 64, size - 65, size - 2, size - 1] : leaves.keys();
    for (const index of steps) {
      const path = await proveLeaf(size, index, readerOf(leaves, nodes));
      expect(verifyInclusion({ leaf: leaves[index] as Buffer, index, size, path, root })).toBe(true);
    }
  }
});

test('a leaf outside the tree and an incomplete block are rejected', async () => {
  const leaves = leavesOf(100);
  const { nodes } = blocksOf(leaves, 100);
  await expect(proveLeaf(100, 100, readerOf(leaves, nodes))).rejects.toThrow(RangeError);
  await expect(proveLeaf(100, -1, readerOf(leaves, nodes))).rejects.toThrow(RangeError);
  await expect(proveLeaf(100, 70, readerOf(leaves.slice(0, 90), nodes))).rejects.toThrow('block 1 of level 0');
});

test('a tree without leaves cannot be built', () => {
  expect(() => openTreeBuilder().finish()).toThrow('no leaves');
});
