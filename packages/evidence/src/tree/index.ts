export * from './merkle-tree.js';
export * from './tree-blocks.js';
