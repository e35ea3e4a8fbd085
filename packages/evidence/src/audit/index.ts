export * from './anchors-report.js';
export * from './verify-anchors.js';
