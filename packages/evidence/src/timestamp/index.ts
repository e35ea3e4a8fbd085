export * from './certificates.js';
export * from './create-timestamper.js';
export { fingerprintOf, type OtherRoot, type RootPin } from './create-timestamper.js';
export * from './development-authority.js';
export type { TimestampHash } from './object-identifiers.js';
export * from './object-identifiers.js';
export * from './probe-authority.js';
export * from './timestamp.js';
export * from './verify-timestamp.js';
