export * from './evaluate-anchor.js';
export * from './verify-anchors.js';
