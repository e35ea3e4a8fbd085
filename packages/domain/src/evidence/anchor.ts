import type { StampFacts } from './evidence.js';

export type StoredAnchor = {
  id: string;
  /** 1 for the first, without gaps. */
  seq: number;
  closedAt: Date;
  treeSize: number;
  /** 32 bytes each. */
  root: Uint8Array;
  prevAnchorHash: Uint8Array;
  /** SHA-256 of `body`. */
  hash: Uint8Array;
  /** The JCS form of its seven keys: what is hashed, chained and stamped. */
  body: Uint8Array;
  stamp: StampFacts | null;
};

/** Port: one anchor; `null` when there is none. */
export type FindAnchor = (id: string) => Promise<StoredAnchor | null>;

/** Port: anchors with a lower `seq` (null: from the newest), newest first. */
export type ListAnchors = (beforeSeq: number | null, limit: number) => Promise<StoredAnchor[]>;

/** The position of a check's leaf. `hash`: the leaf's data, which is the check's hash (32 bytes). */
type AnchoredLeaf = {
  checkId: string;
  anchorId: string;
  seq: number;
  leafIndex: number;
  treeSize: number;
  hash: Uint8Array;
};

/** Port: the leaves of those of the checks that are anchored, in no order. */
export type FindLeaves = (checkIds: readonly string[]) => Promise<AnchoredLeaf[]>;

/** One block of a stored level of an anchor's tree: level 0 holds the leaves' data. */
export type BlockPosition = { seq: number; level: number; index: number };

/** Port: the block's hashes, 32 bytes each, end to end; shorter at the right edge of a level. */
export type ReadBlock = (block: BlockPosition) => Promise<Uint8Array>;

/** Port: many at once, in the order of `blocks`. */
export type ReadBlocks = (blocks: readonly BlockPosition[]) => Promise<Uint8Array[]>;

/** The position of a check in an anchor. `path`: the hashes (32 bytes each) of its RFC 9162 inclusion proof, leaf upwards. */
export type AnchorProof = Omit<AnchoredLeaf, 'checkId' | 'hash'> & { path: Uint8Array[] };

/** Port: proofs of those of the checks that are anchored, by check id. Checks of one anchor share reads. */
export type ProveChecks = (checkIds: readonly string[]) => Promise<Map<string, AnchorProof>>;

/** The evidence of a check, as the API shows it; null until it exists. */
export type CheckEvidence = {
  stamp: StampFacts | null;
  anchor: Omit<AnchoredLeaf, 'checkId' | 'hash'> | null;
};

/** Port: the evidence of checks by check id; every id has an entry. The caller has verified that the checks are its own. */
export type FindEvidence = (checkIds: readonly string[]) => Promise<Map<string, CheckEvidence>>;

/** An anchor to be stored. `nodes`: the stored levels of its tree above the leaves, by level. */
export type NewAnchor = Omit<StoredAnchor, 'stamp'> & { nodes: ReadonlyMap<number, Uint8Array> };

/** The operations available while one process holds the closing lock, in one transaction. */
export type AnchorClosing = {
  /** The body of the newest anchor; null before the first. */
  previous: Uint8Array | null;
  /**
   * Assigns the next unanchored leaves to the anchor `seq`, from index `from` on, and returns their data, 32 bytes each, end
   * to end; empty once none are left.
   */
  take: (seq: number, from: number, limit: number) => Promise<Uint8Array>;
  /** Stores the anchor and requests its time-stamp. */
  write: (anchor: NewAnchor) => Promise<void>;
};

/** Port: runs `work` in one transaction, exclusively over the fleet; null when another process holds the lock. */
export type CloseAlone = <T>(work: (closing: AnchorClosing) => Promise<T>) => Promise<{ done: T } | null>;

/** An anchor to be verified. `token` and `stampDigest` are null until it is stamped. */
export type AnchorToVerify = StoredAnchor & { token: Uint8Array | null; stampDigest: Uint8Array | null };

/** A page of an anchor's leaves in their order. */
type LeafPage = {
  /** 32 bytes each, end to end. */
  hashes: Uint8Array;
  /** False when an index is missing between, or occurs twice. */
  whole: boolean;
  /** False when a check is outside the range of checks that the anchor's row states. */
  ranged: boolean;
  /** Leaves whose existing check has another hash, another body, or was made after the closing. */
  differing: LeafDifference[];
};
export type LeafDifference = { checkId: string; of: 'hash' | 'body' | 'time' };

/** A stamp of a check to be verified. The fields of the check are null once the check is deleted. */
type StampToVerify = {
  subjectId: string;
  /** SHA-256 of the stamped data; the token may use another hash function. */
  digest: Uint8Array;
  token: Uint8Array;
  facts: StampFacts;
  checkHash: Uint8Array | null;
  /** The check's hashed form. */
  checkBody: Uint8Array | null;
  checkedAt: Date | null;
  /** The anchor that contains the check; null until then. */
  anchorSeq: number | null;
};

/** Port: what verification reads; every list is in the order of its cursor and paged. */
export type AnchorAudit = {
  anchors: (afterSeq: number, limit: number) => Promise<AnchorToVerify[]>;
  leaves: (seq: number, from: number, limit: number) => Promise<LeafPage>;
  readBlock: ReadBlock;
  /** The number of leaves assigned to anchors after the last existing one. */
  leavesBeyond: () => Promise<number>;
  /** Live checks without a leaf, unanchored leaves that differ from their check, and leaves of an unknown anchor. */
  leafFaults: (afterCheckId: string | null, limit: number) => Promise<{ faults: LeafFault[]; next: string | null }>;
  checkStamps: (afterId: string | null, limit: number) => Promise<StampToVerify[]>;
};
export type LeafFault = { checkId: string; kind: 'no_leaf' | 'unanchored_differs' | 'unknown_anchor' };
