export * from './anchor/index.js';
export * from './audit/index.js';
export * from './canonical-form.js';
export * from './certificate/index.js';
export * from './dossier/index.js';
export * from './hash-check.js';
export * from './timestamp/index.js';
export * from './tree/index.js';
