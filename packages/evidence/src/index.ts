export * from './anchor/index.js';
export * from './canonical-form.js';
export * from './hash-check.js';
export * from './tree/index.js';
