export * from './inclusion.js';
export * from './prove-checks.js';
export * from './tree-blocks.js';
