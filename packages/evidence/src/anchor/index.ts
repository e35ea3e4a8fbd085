export * from './anchor.js';
export * from './close-anchor.js';
export * from './evaluate-stamps.js';
export * from './verify-anchor-chain.js';
