import { ANCHOR_ALGORITHM, type Anchor, NO_ANCHOR_HASH } from './anchor.js';
import { hashAnchor } from './hash-anchor.js';

type CloseAnchor = {
  /** The newest anchor, or null when there is none yet. */
  previous: Anchor | null;
  /** Of the tree of the checks that are anchored now. */
  size: number;
  root: Uint8Array;
  closedAt: Date;
};

/**
 * The anchor that follows `previous`. A clock that was set back does not break the order: it is closed no earlier than its
 * predecessor. Throws when the tree is empty.
 */
export const closeAnchor = ({ previous, size, root, closedAt }: CloseAnchor): Anchor => {
  if (size < 1) throw new Error('an anchor needs at least one check');
  const time = closedAt.toISOString();
  return {
    v: 1,
    seq: (previous?.seq ?? 0) + 1,
    alg: ANCHOR_ALGORITHM,
    closed_at: previous && previous.closed_at > time ? previous.closed_at : time,
    tree_size: size,
    root: Buffer.from(root).toString('hex'),
    prev_anchor_hash: previous ? hashAnchor(previous) : NO_ANCHOR_HASH,
  };
};
