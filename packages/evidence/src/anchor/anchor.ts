/** Names how an anchor's root is made: the tree of RFC 9162 with SHA-256. */
export const ANCHOR_ALGORITHM = 'rfc9162-sha256';

/** The first anchor has no predecessor; nothing is known whose SHA-256 is this. */
export const NO_ANCHOR_HASH = '0'.repeat(64);

/**
 * What is chained and time-stamped for one tree of checks. Exactly these seven keys are hashed. Source: contract part 2 §7.
 */
export type Anchor = {
  v: 1;
  /** 1 for the first anchor, then one more each time. */
  seq: number;
  alg: typeof ANCHOR_ALGORITHM;
  /** RFC 3339, UTC, milliseconds; never before that of the anchor before. */
  closed_at: string;
  /** Leaves of the tree; at least 1, for an anchor of nothing says nothing. */
  tree_size: number;
  /** The tree's root, 64 hex digits. */
  root: string;
  /** SHA-256 of the JCS form of the anchor before, 64 hex digits; {@link NO_ANCHOR_HASH} in the first. */
  prev_anchor_hash: string;
};
