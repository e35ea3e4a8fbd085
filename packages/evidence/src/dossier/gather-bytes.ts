const BLOCK_BYTES = 262_144;

/** Bytes that pile up. */
export type GatheredBytes = {
  /** Adds text as UTF-8, or bytes; they are copied. */
  add: (piece: string | Uint8Array) => void;
  /** Everything so far, in one piece; nothing is remembered of it. */
  take: () => Buffer;
};

/**
 * Gathers many small pieces in a few large blocks: as strings or buffers of their own, what a dossier has to remember
 * until its end (a sum and a directory entry for each of some 70 000 files) would take several times its size.
 */
export const gatherBytes = (): GatheredBytes => {
  let full: Buffer[] = [];
  let block = Buffer.alloc(0);
  let used = 0;
  const room = (size: number) => {
    if (used + size <= block.length) return;
    full.push(block.subarray(0, used));
    block = Buffer.allocUnsafeSlow(Math.max(size, BLOCK_BYTES));
    used = 0;
  };
  return {
    add: (piece) => {
      const size = Buffer.byteLength(piece);
      room(size);
      if (typeof piece === 'string') block.write(piece, used, 'utf8');
      else block.set(piece, used);
      used += size;
    },
    take: () => {
      const all = Buffer.concat([...full, block.subarray(0, used)]);
      [full, block, used] = [[], Buffer.alloc(0), 0];
      return all;
    },
  };
};
