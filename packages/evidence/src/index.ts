export * from './canonical-form.js';
export * from './hash-check.js';
