export * from './check/entry.js';
export * from './check/enrichment.js';
export * from './check/upstream.js';
export * from './errors.js';
export * from './ids.js';
export * from './member-states.js';
