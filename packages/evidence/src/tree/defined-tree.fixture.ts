import { createHash } from 'node:crypto';
import { hashLeaf, hashNode } from './tree-blocks.js';

/**
 * The tree over `leaves` by the recursive definition of the RFC, which splits at the largest power of two below the size: root
 * and paths of its first `size` leaves. Source: RFC 9162 §2.1.
 */
export const definedTree = (leaves: readonly Uint8Array[]) => {
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
    root: (size = leaves.length) => (size === 0 ? createHash('sha256').digest() : root(0, size)),
    path: (index: number, size = leaves.length) => path(index, 0, size),
  };
};
