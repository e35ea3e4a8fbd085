export * from './anchor.js';
export * from './close-anchor.js';
export * from './decode-anchor.js';
export * from './encode-anchor.js';
export * from './hash-anchor.js';
export * from './judge-anchor.js';
export * from './verify-anchor-chain.js';
