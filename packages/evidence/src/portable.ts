// Hashes and proofs for every runtime: the service, browsers and tests share this code. It imports nothing from Node.
export { hmac } from '@noble/hashes/hmac.js';
export { sha256 } from '@noble/hashes/sha2.js';
export { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
export * from './anchor/anchor.js';
export * from './anchor/evaluate-stamps.js';
export * from './anchor/verify-anchor-chain.js';
export * from './canonical-form.js';
export * from './tree/inclusion.js';
