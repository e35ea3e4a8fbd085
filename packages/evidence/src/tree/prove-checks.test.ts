import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { definedTree } from './defined-tree.fixture.js';
import { verifyInclusion } from './inclusion.js';
import { proveChecks } from './prove-checks.js';
import { BLOCK_NODES, openTreeBuilder } from './tree-blocks.js';

const LEAVES = Array.from({ length: 5_000 }, (_, n) => createHash('sha256').update(String(n)).digest());
const hex = (hashes: readonly Uint8Array[]) => Buffer.concat(hashes).toString('hex');
const leavesOf = (size: number) => LEAVES.slice(0, size);

const blocksOf = (leaves: readonly Uint8Array[], slice: number) => {
  const builder = openTreeBuilder();
  for (let n = 0; n < leaves.length; n += slice) builder.add(Buffer.concat(leaves.slice(n, n + slice)));
  return builder.finish();
};

/** The paths of the leaves `indexes`, as the service makes them. With another `size` than that of the leaves, nodes are missing. */
const pathsOf = async (
  leaves: readonly Uint8Array[],
  nodes: ReadonlyMap<number, Uint8Array>,
  indexes: readonly number[],
  size = leaves.length,
): Promise<Uint8Array[][]> => {
  const anchor = { anchorId: '', seq: 1, treeSize: size };
  const prove = proveChecks({
    findLeaves: async () =>
      indexes.map((leafIndex) => ({ ...anchor, leafIndex, checkId: String(leafIndex), hash: new Uint8Array() })),
    readBlocks: async (blocks) =>
      blocks.map(({ level, index }) => {
        const whole = level === 0 ? Buffer.concat(leaves) : (nodes.get(level) ?? Buffer.alloc(0));
        return whole.subarray(index * BLOCK_NODES * 32, (index + 1) * BLOCK_NODES * 32);
      }),
  });
  return [...(await prove(indexes.map(String))).values()].map(({ path }) => [...path]);
};

test('root and paths equal those of the definition in the RFC, for any page size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      async (size, slice, part) => {
        const leaves = leavesOf(size);
        const tree = definedTree(leaves);
        const blocks = blocksOf(leaves, slice);
        expect([blocks.size, blocks.root]).toEqual([size, tree.root()]);
        const index = Math.floor(part * size);
        const [path = []] = await pathsOf(leaves, blocks.nodes, [index]);
        expect(hex(path)).toBe(hex(tree.path(index)));
        expect(verifyInclusion({ leaf: leaves[index] as Buffer, index, size, path, root: blocks.root })).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('root and every path equal those of the definition in the RFC, for 1 to 130 leaves', async () => {
  const tree = definedTree(leavesOf(130));
  for (let size = 1; size <= 130; size += 1) {
    const leaves = leavesOf(size);
    const { root, nodes } = blocksOf(leaves, 1_000);
    expect(root).toEqual(tree.root(size));
    // One comparison per size, because `expect` takes longer than computing the paths.
    const paths = await pathsOf(leaves, nodes, [...leaves.keys()]);
    expect(paths.map(hex)).toEqual(leaves.map((_, index) => hex(tree.path(index, size))));
  }
});

test('every leaf is proved in trees with sizes around the block boundaries', async () => {
  for (const size of [1, 2, 63, 64, 65, 127, 128, 129, 4_095, 4_096, 4_097, 4_161]) {
    const leaves = leavesOf(size);
    const { root, nodes } = blocksOf(leaves, 1_000);
    const steps = size > 200 ? [0, 1, 63, 64, size - 65, size - 2, size - 1] : [...leaves.keys()];
    const paths = await pathsOf(leaves, nodes, steps);
    for (const [at, path] of paths.entries()) {
      const index = steps[at] ?? -1;
      expect(verifyInclusion({ leaf: leaves[index] as Buffer, index, size, path, root })).toBe(true);
    }
  }
});

test('a leaf outside the tree and an incomplete block are rejected', async () => {
  const leaves = leavesOf(100);
  const { nodes } = blocksOf(leaves, 100);
  for (const index of [-1, 100, 0.5, Number.NaN])
    await expect(pathsOf(leaves, nodes, [index])).rejects.toThrow(RangeError);
  await expect(pathsOf(leaves.slice(0, 90), nodes, [70], 100)).rejects.toThrow('block 1 of level 0');
});

test('a tree without leaves cannot be built', () => {
  expect(() => openTreeBuilder().finish()).toThrow('no leaves');
});
