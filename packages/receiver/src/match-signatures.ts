type Deps = {
  /** Constant-time comparison of two equally long byte strings: `timingSafeEqual` of node:crypto. */
  equal: (left: Uint8Array, right: Uint8Array) => boolean;
};

/**
 * Whether one of the received signatures is one of the expected ones. Every pair is compared, all bytes of it, also after
 * a match, so that the time taken says nothing about how much of a forged signature was right.
 *
 * Signatures are raw digests of 32 bytes; one of another length matches nothing.
 */
export const matchSignatures =
  ({ equal }: Deps) =>
  (received: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean =>
    received
      .flatMap((mine) => expected.map((theirs) => mine.length === theirs.length && equal(mine, theirs)))
      .includes(true);
