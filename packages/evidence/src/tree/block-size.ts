/** Every sixth level of a tree is stored, in blocks of 64 nodes: half a byte a leaf, and a proof hashes 64 leaves. */
export const BLOCK_LEVELS = 6;
export const BLOCK_NODES = 2 ** BLOCK_LEVELS;
