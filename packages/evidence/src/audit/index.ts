export * from './evaluate-anchor.js';
export { expiresSoon } from './report-standings.js';
export * from './verify-anchors.js';
