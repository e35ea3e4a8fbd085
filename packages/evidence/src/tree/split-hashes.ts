const HASH = 32;

/** Splits hashes that are laid end to end, 32 bytes each; the parts share the memory. */
export const splitHashes = (hashes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(hashes.length / HASH) }, (_, n) => hashes.subarray(n * HASH, (n + 1) * HASH));
