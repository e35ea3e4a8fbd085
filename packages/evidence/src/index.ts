export * from './hash-check.js';
