import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { definedTree } from './defined-tree.fixture.js';
import { verifyInclusion } from './inclusion.js';

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

const leavesOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(`check ${index}`).digest());

test('the defined tree has the published roots of Certificate Transparency', () => {
  const tree = definedTree(CT_LEAVES);
  for (const [count, root] of CT_ROOTS.entries()) expect(tree.root(count).toString('hex')).toBe(root);
});

describe('verifyInclusion', () => {
  it('accepts every leaf of any tree, and rejects every change of a proof', () => {
    const claim = fc
      .integer({ min: 1, max: 300 })
      .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat({ max: size - 1 }) }));
    fc.assert(
      fc.property(claim, fc.nat(), fc.nat({ max: 255 }), ({ size, index }, at, bit) => {
        const leaves = leavesOf(size);
        const [tree, leaf] = [definedTree(leaves), leaves[index] ?? Buffer.alloc(0)];
        const held = { leaf, index, size, path: tree.path(index), root: tree.root() };
        expect(verifyInclusion(held)).toBe(true);

        const flipped = (bytes: Uint8Array) =>
          bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(verifyInclusion({ ...held, leaf: flipped(leaf) })).toBe(false);
        expect(verifyInclusion({ ...held, root: flipped(tree.root()) })).toBe(false);
        expect(verifyInclusion({ ...held, path: [...held.path, tree.root()] })).toBe(false);
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

  it('rejects indexes outside the tree, nodes of another length and an inner node in place of a leaf', () => {
    const leaves = leavesOf(4);
    const tree = definedTree(leaves);
    const held = { leaf: leaves[2] ?? Buffer.alloc(0), index: 2, size: 4, path: tree.path(2), root: tree.root() };
    expect(verifyInclusion(held)).toBe(true);
    for (const index of [-1, 4, 1.5, Number.NaN]) expect(verifyInclusion({ ...held, index })).toBe(false);
    for (const size of [0, 2, Number.POSITIVE_INFINITY]) expect(verifyInclusion({ ...held, size })).toBe(false);
    expect(verifyInclusion({ ...held, path: held.path.map((node) => node.subarray(1)) })).toBe(false);
    // Without the two prefixes, a pair of hashes could be presented as a leaf.
    const pair = Buffer.concat([leaves[0] ?? Buffer.alloc(0), leaves[1] ?? Buffer.alloc(0)]);
    const [, upper = Buffer.alloc(0)] = tree.path(0);
    expect(verifyInclusion({ leaf: pair, index: 0, size: 2, path: [upper], root: tree.root() })).toBe(false);
  });
});
