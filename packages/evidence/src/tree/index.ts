export * from './inclusion.js';
export * from './merkle-tree.js';
export * from './prove-checks.js';
export * from './tree-blocks.js';
