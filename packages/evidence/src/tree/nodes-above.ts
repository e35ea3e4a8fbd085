import { hashNode } from './hash-node.js';

/** The level above a level of a tree: siblings hashed, a lone last one risen unchanged. Source: RFC 9162 §2.1.1. */
export const nodesAbove = (nodes: readonly Uint8Array[]): Uint8Array[] => {
  const above: Uint8Array[] = [];
  for (let n = 0; n < nodes.length; n += 2) {
    const [left, right] = [nodes[n] as Uint8Array, nodes[n + 1]];
    above.push(right === undefined ? left : hashNode(left, right));
  }
  return above;
};
