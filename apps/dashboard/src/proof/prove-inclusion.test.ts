import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { hexOf } from './hash.js';
import { proveInclusion } from './prove-inclusion.js';

type Bytes = Uint8Array<ArrayBuffer>;

const sha256 = (...parts: Uint8Array[]): Bytes =>
  Uint8Array.from(createHash('sha256').update(Buffer.concat(parts)).digest());

const prove = proveInclusion(async (bytes) => sha256(bytes));

/** The root of a tree, by the recursive definition of RFC 9162 §2.1. */
const rootOf = (leaves: readonly Bytes[]): Bytes => {
  const [only] = leaves;
  if (only && leaves.length === 1) return sha256(Uint8Array.of(0), only);
  const split = splitOf(leaves.length);
  return sha256(Uint8Array.of(1), rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
};
const pathOf = (leaves: readonly Bytes[], index: number): Bytes[] => {
  if (leaves.length === 1) return [];
  const split = splitOf(leaves.length);
  return index < split
    ? [...pathOf(leaves.slice(0, split), index), rootOf(leaves.slice(split))]
    : [...pathOf(leaves.slice(split), index - split), rootOf(leaves.slice(0, split))];
};
const splitOf = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1);

const trees = fc
  .array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 40 })
  .chain((data) =>
    fc.record({ leaves: fc.constant(data.map((leaf) => Uint8Array.from(leaf))), at: fc.nat(data.length - 1) }),
  );

test('the path of any leaf proves that leaf and no other', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ({ leaves, at }) => {
      const claim = { leaf: leaves[at] as Bytes, index: at, size: leaves.length, path: pathOf(leaves, at) };
      const root = hexOf(rootOf(leaves));
      expect(hexOf((await prove(claim)) as Bytes)).toBe(root);
      const forged = await prove({ ...claim, leaf: sha256(claim.leaf) });
      expect(forged && hexOf(forged)).not.toBe(root);
      const longer = await prove({ ...claim, path: [...claim.path, claim.leaf] });
      expect(longer && hexOf(longer)).not.toBe(root);
    }),
  );
});

test('an index beyond the tree is rejected', async () => {
  expect(await prove({ leaf: new Uint8Array(32), index: 1, size: 1, path: [] })).toBeNull();
});
