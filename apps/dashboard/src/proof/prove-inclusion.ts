type Bytes = Uint8Array<ArrayBuffer>;
type Sha256 = (bytes: Bytes) => Promise<Bytes>;

/** The claim that `leaf` (its data) has the position `index` among the `size` leaves of a tree. */
type InclusionClaim = { leaf: Bytes; index: number; size: number; path: readonly Bytes[] };

const hasherOf = (sha256: Sha256) => {
  const hash = (first: number, ...parts: Bytes[]): Promise<Bytes> => {
    const whole = new Uint8Array(1 + parts.reduce((sum, { length }) => sum + length, 0));
    whole[0] = first;
    let at = 1;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return sha256(whole);
  };
  return { leaf: (data: Bytes) => hash(0, data), node: (left: Bytes, right: Bytes) => hash(1, left, right) };
};

/**
 * Computes the root from a leaf and its inclusion path; null when the path does not match the size of the tree. The claim is
 * proved when the result equals the root of the anchor. Source: RFC 9162 §2.1.3.2.
 */
export const proveInclusion =
  (sha256: Sha256) =>
  async ({ leaf, index, size, path }: InclusionClaim): Promise<Bytes | null> => {
    const of = hasherOf(sha256);
    if (index < 0 || index >= size) return null;
    // Division instead of bit operators, which truncate to 32 bits.
    let node = index;
    let last = size - 1;
    let hash = await of.leaf(leaf);
    for (const sibling of path) {
      if (last === 0) return null;
      if (node % 2 === 1 || node === last) {
        hash = await of.node(sibling, hash);
        for (; node % 2 === 0 && node !== 0; node /= 2) last = Math.floor(last / 2);
      } else {
        hash = await of.node(hash, sibling);
      }
      node = Math.floor(node / 2);
      last = Math.floor(last / 2);
    }
    return last === 0 ? hash : null;
  };
