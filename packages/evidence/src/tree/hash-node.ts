import { sha256 } from './sha256.js';

const NODE = Buffer.of(1);

/** The hash of an inner node: SHA-256(0x01 ‖ left ‖ right), 32 bytes each. Source: RFC 9162 §2.1.1. */
export const hashNode = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.concat([NODE, left, right]));
