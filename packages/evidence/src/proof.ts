// Records and verifies evidence. `@vat/evidence/proof` is an entry of its own because documents need a PDF writer and fonts,
// which would be a third of what a worker or the command line loads at its start.
export * from './anchor/index.js';
export * from './audit/index.js';
export * from './hash-check.js';
export * from './timestamp/index.js';
export * from './tree/index.js';
