import { sha256 } from './sha256.js';

const LEAF = Buffer.of(0);

/** The hash of a leaf's data: SHA-256(0x00 ‖ data). Source: RFC 9162 §2.1.1. */
export const hashLeaf = (data: Uint8Array): Buffer => sha256(Buffer.concat([LEAF, data]));
