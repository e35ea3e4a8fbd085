/** Bytes that come in pieces. `add` takes a copy and is false, taking nothing, once `most` would be passed. */
export type ByteCollector = { add: (piece: Uint8Array) => boolean; bytes: () => Buffer };

const FIRST_CAPACITY = 64 * 1024;

/**
 * Collects up to `most` bytes in one buffer that doubles. Kept as they come, pieces cost a hundred bytes each beside
 * their content, and a client may send a file of two million pieces.
 */
export const collectBytes = (most: number): ByteCollector => {
  let held = Buffer.alloc(0);
  let length = 0;
  return {
    add: (piece) => {
      const needed = length + piece.length;
      if (needed > most) return false;
      if (needed > held.length) {
        const larger = Buffer.allocUnsafe(Math.min(most, Math.max(FIRST_CAPACITY, 2 * held.length, needed)));
        held.copy(larger, 0, 0, length);
        held = larger;
      }
      held.set(piece, length);
      length = needed;
      return true;
    },
    bytes: () => held.subarray(0, length),
  };
};
