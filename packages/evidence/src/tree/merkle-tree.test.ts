import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { buildTree, computeRoot, hashLeaf, hashNode, locatePath, verifyInclusion } from './index.js';

/** The test vectors (leaves and roots) of Certificate Transparency implementations. */
const CT_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'));
const CT_ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** The recursive definition of the RFC, which splits at the largest power of two below the size, over leaves `from` to `to`. */
const definition = (leaves: readonly Uint8Array[]) => {
  const known = new Map<string, Buffer>();
  const middle = (from: number, to: number) => from + 2 ** Math.ceil(Math.log2(to - from) - 1);
  const root = (from: number, to: number): Buffer => {
    const key = `${from}-${to}`;
    const found = known.get(key);
    if (found) return found;
    const made = to - from === 1 ? hashLeaf(leaves[from] ?? Buffer.alloc(0)) : pairRoot(from, middle(from, to), to);
    known.set(key, made);
    return made;
  };
  const pairRoot = (from: number, at: number, to: number) => hashNode(root(from, at), root(at, to));
  const path = (index: number, from: number, to: number): Buffer[] => {
    if (to - from === 1) return [];
    const at = middle(from, to);
    return index < at ? [...path(index, from, at), root(at, to)] : [...path(index, at, to), root(from, at)];
  };
  return {
    root: (size: number) => (size === 0 ? createHash('sha256').digest() : root(0, size)),
    path: (index: number, size: number) => path(index, 0, size),
  };
};

const hex = (hashes: readonly Uint8Array[]) => hashes.map((hash) => Buffer.from(hash).toString('hex')).join(' ');

const leavesOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(`check ${index}`).digest());

async function* arriving(leaves: readonly Uint8Array[]) {
  for (const leaf of leaves) yield await Promise.resolve(leaf);
}

describe('the tree of an anchor', () => {
  it('has the published roots of Certificate Transparency', async () => {
    for (const [count, root] of CT_ROOTS.entries()) {
      const leaves = CT_LEAVES.slice(0, count);
      expect((await computeRoot(leaves)).root.toString('hex')).toBe(root);
      expect((await buildTree(leaves)).root.toString('hex')).toBe(root);
    }
  });

  it('has the root and every path of the definition in the RFC, for 0 to 130 leaves', async () => {
    const leaves = leavesOf(130);
    const defined = definition(leaves);
    const leafAt = (index: number) => leaves[index] ?? Buffer.alloc(0);
    for (let size = 0; size <= leaves.length; size += 1) {
      const root = defined.root(size);
      expect(await computeRoot(arriving(leaves.slice(0, size)))).toEqual({ size, root });
      const tree = await buildTree(arriving(leaves.slice(0, size)), size);
      expect(tree.root).toEqual(root);
      // One comparison per size, because `expect` takes longer than computing the paths.
      const paths = leaves.slice(0, size).map((_, index) => tree.path(index));
      expect(paths.map(hex)).toEqual(paths.map((_, index) => hex(defined.path(index, size))));
      const unproved = paths.filter(
        (path, index) => !verifyInclusion({ leaf: leafAt(index), index, size, path, root }),
      );
      expect(unproved).toEqual([]);
    }
  });

  it('gives the position of each node of a path in the levels', async () => {
    const tree = await buildTree(leavesOf(37));
    const stored = locatePath(37, 35).map(({ level, index }) => tree.levels[level]?.slice(index * 32, index * 32 + 32));
    expect(stored.map((node) => Buffer.from(node ?? []))).toEqual(tree.path(35));
    expect(tree.levels.map((level) => level.length / 32)).toEqual([37, 19, 10, 5, 3, 2, 1]);
  });

  it('has no path for a missing leaf', async () => {
    const tree = await buildTree(leavesOf(5));
    for (const index of [-1, 5, 0.5, Number.NaN]) expect(() => tree.path(index)).toThrow(RangeError);
    const empty = await buildTree([]);
    expect(empty.levels).toEqual([]);
    expect(() => empty.path(0)).toThrow(RangeError);
  });

  it('yields to other work', async () => {
    let turns = 0;
    let done = false;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await buildTree(leavesOf(5_000));
    done = true;
    expect(turns).toBeGreaterThan(10);
  });
});

describe('verifyInclusion', () => {
  it('accepts every leaf of any tree, and rejects every change of a proof', async () => {
    const claim = fc
      .integer({ min: 1, max: 300 })
      .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat({ max: size - 1 }) }));
    await fc.assert(
      fc.asyncProperty(claim, fc.nat(), fc.nat({ max: 255 }), async ({ size, index }, at, bit) => {
        const leaves = leavesOf(size);
        const [tree, leaf] = [await buildTree(leaves), leaves[index] ?? Buffer.alloc(0)];
        const held = { leaf, index, size, path: tree.path(index), root: tree.root };
        expect(verifyInclusion(held)).toBe(true);

        const flipped = (bytes: Uint8Array) =>
          bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(verifyInclusion({ ...held, leaf: flipped(leaf) })).toBe(false);
        expect(verifyInclusion({ ...held, root: flipped(tree.root) })).toBe(false);
        expect(verifyInclusion({ ...held, path: [...held.path, tree.root] })).toBe(false);
        if (held.path.length === 0) return;
        const place = at % held.path.length;
        const changed = held.path.map((node, i) => (i === place ? flipped(node) : node));
        expect(verifyInclusion({ ...held, path: changed })).toBe(false);
        expect(verifyInclusion({ ...held, path: held.path.filter((_, i) => i !== place) })).toBe(false);
        const places = leaves.map((_, other) => other).filter((other) => verifyInclusion({ ...held, index: other }));
        expect(places).toEqual([index]);
      }),
      { numRuns: 60 },
    );
  });

  it('rejects indexes outside the tree, nodes of another length and an inner node in place of a leaf', async () => {
    const leaves = leavesOf(4);
    const tree = await buildTree(leaves);
    const held = { leaf: leaves[2] ?? Buffer.alloc(0), index: 2, size: 4, path: tree.path(2), root: tree.root };
    expect(verifyInclusion(held)).toBe(true);
    for (const index of [-1, 4, 1.5, Number.NaN]) expect(verifyInclusion({ ...held, index })).toBe(false);
    for (const size of [0, 2, Number.POSITIVE_INFINITY]) expect(verifyInclusion({ ...held, size })).toBe(false);
    expect(verifyInclusion({ ...held, path: held.path.map((node) => node.subarray(1)) })).toBe(false);
    // Without the two prefixes, a pair of hashes could be presented as a leaf.
    const pair = Buffer.concat([leaves[0] ?? Buffer.alloc(0), leaves[1] ?? Buffer.alloc(0)]);
    const [, upper = Buffer.alloc(0)] = tree.path(0);
    expect(verifyInclusion({ leaf: pair, index: 0, size: 2, path: [upper], root: tree.root })).toBe(false);
  });
});
