export * from './judge-anchor.js';
export * from './verify-anchors.js';
