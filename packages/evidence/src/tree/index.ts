export * from './build-tree.js';
export * from './compute-root.js';
export * from './hash-leaf.js';
export * from './hash-node.js';
export * from './locate-path.js';
export * from './verify-inclusion.js';
