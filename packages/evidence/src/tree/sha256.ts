import { hash } from 'node:crypto';

/**
 * SHA-256 in one go. A Hash object of `createHash` outlives the quick collections of garbage: a million of them, as the
 * proofs of a dossier take, were a hundred megabytes.
 */
export const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
