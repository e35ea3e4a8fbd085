import type { CheckEntry } from '../check/entry.js';
import type { Exchange } from '../check/upstream.js';
import type { Change } from '../watch/watch.js';

/** Checks that a dossier may hold. */
export const MAX_EXPORTED_CHECKS = 10_000;

/** Filters the evidence of an account; null where not restricted. `from` is inclusive, `to` exclusive. */
export type EvidenceChoice = { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };

/** A chosen check as it stood when it was chosen: its anchor, and whether it had a time-stamp. */
export type ChosenCheck = { id: string; anchorSeq: number | null; stamped: boolean };

/**
 * The ids of what an export holds, as of one moment. Rows are read later, in chunks: recorded rows never change, and anchors
 * and time-stamps added later are left out. Every list is in ascending order.
 */
export type ChosenEvidence = {
  accountName: string;
  /** Live checks, one more than wanted at most. */
  checks: ChosenCheck[];
  /** Live requests that had no check. */
  requests: string[];
  /** The anchors that the checks are in. */
  anchors: { seq: number; stamped: boolean }[];
  /** Changes of watches. */
  changes: string[];
};

/** Port: chooses evidence in one snapshot; at most `limit` checks. */
export type ChooseEvidence = (accountId: string, choice: EvidenceChoice, limit: number) => Promise<ChosenEvidence>;

/** A check of an export. `token`: its time-stamp's, by now. */
export type ExportedCheck = {
  id: string;
  requestId: string;
  bytes: Uint8Array;
  hash: Uint8Array;
  token: Uint8Array | null;
};

/** A request of an export that had no check when it was chosen; by now it may have one (`completed`). */
export type ExportedRequest = {
  id: string;
  vatNumber: string;
  requester: string | null;
  reference: string | null;
  state: 'waiting' | 'pending' | 'completed' | 'abandoned' | 'withdrawn';
  createdAt: Date;
  acceptedAt: Date | null;
  giveUpAt: Date | null;
  endedAt: Date | null;
  attempts: number;
  lastError: string | null;
  reason: string | null;
  entries: CheckEntry[];
};

/** A change of a watch in an export. */
export type ExportedChange = Change & {
  id: string;
  watchId: string;
  vatNumber: string;
  label: string | null;
  checkId: string;
  changedAt: Date;
};

/** Port: what an export reads, by ids; rows deleted meanwhile are left out. */
export type ReadEvidence = {
  checks: (ids: readonly string[]) => Promise<ExportedCheck[]>;
  requests: (ids: readonly string[]) => Promise<ExportedRequest[]>;
  /** Exchanges by request, in the order in which they were made. */
  exchanges: (requestIds: readonly string[]) => Promise<Map<string, Exchange[]>>;
  anchors: (seqs: readonly number[]) => Promise<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>;
  changes: (ids: readonly string[]) => Promise<ExportedChange[]>;
};

/**
 * Port: leases that limit an account's concurrent exports and downloads over all processes. `take` and `renew` resolve to
 * whether `holder` now has a lease.
 */
export type AccountLeases = {
  take: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  renew: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  release: (accountId: string, holder: string) => Promise<void>;
};

/** The subject of a time-stamp: a check's hashed bytes, or an anchor's JCS form. The subject's id is that of its row. */
export type StampKind = 'check' | 'anchor';

/** The facts of a verified token. Source: RFC 3161 §2.4.2. */
export type StampFacts = {
  /** When the authority received the digest, as it states. */
  genTime: Date;
  /** How far `genTime` may be off; null when the authority does not state it. */
  accuracyMs: number | null;
  /** Lower-case hex of whole bytes. */
  serial: string;
  /** The policy's object identifier. */
  policy: string;
  /** The name in the signer's certificate; the development authority's has "development" in it. */
  authority: string;
  /** True for a token of the service's own authority, which proves nothing to third parties. */
  development: boolean;
};

/** A requested time-stamp. `facts` is set exactly when it is made; the token is read separately. */
export type Stamp = {
  subjectId: string;
  kind: StampKind;
  /** Null for anchors, which belong to no account. */
  accountId: string | null;
  requestedAt: Date;
  /** Attempts so far; also the version of the row for the conditional update. */
  attempts: number;
  /** Set exactly while it is pending. */
  nextAttemptAt: Date | null;
  lastError: string | null;
  facts: StampFacts | null;
};

/** A stamp that is not made yet. `data`: the hashed form of the check, or of the anchor. */
export type PendingStamp = Pick<Stamp, 'subjectId' | 'kind' | 'accountId' | 'requestedAt' | 'attempts'> & {
  data: Uint8Array;
};

/** A stamp whose next attempt is due. */
export type DueStamp = { subjectId: string; dueAt: Date };

/** A position in the list of due stamps. */
export type StampCursor = DueStamp;

/** The outcome of one attempt. `token`: the authority's whole answer (TimeStampResp, DER), byte for byte. */
export type StampOutcome =
  | { kind: 'stamped'; token: Uint8Array; facts: StampFacts }
  /** `counts`: false when no authority was called (the circuit is open). */
  | { kind: 'failed'; error: string; counts: boolean; nextAttemptAt: Date };

/**
 * Port: requests the time-stamp of an account's own live check, at most once a check, and returns the row. `null` when the
 * account has no such check, or it is a test check.
 */
export type RequestStamp = (
  checkId: string,
  accountId: string,
  now: Date,
) => Promise<(Stamp & { created: boolean }) | null>;

/** Port: the stamp of an account's check; `null` when none was requested or the check is not the account's. */
export type FindCheckStamp = (checkId: string, accountId: string) => Promise<Stamp | null>;

/** Port: the token of a finished stamp, byte for byte. `accountId` is null for an anchor. */
export type FindToken = (subjectId: string, accountId: string | null) => Promise<Uint8Array | null>;

/** Port: the data to be stamped; `null` when there is no such row or it is stamped already. */
export type FindPendingStamp = (subjectId: string) => Promise<PendingStamp | null>;

/** Port: stores the outcome of an attempt if the stamp is unchanged since it was read (`attempts`); false otherwise. */
export type RecordStamp = (
  stamp: Pick<PendingStamp, 'subjectId' | 'attempts'>,
  outcome: StampOutcome,
) => Promise<boolean>;

/** A closed anchor. */
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
export type AnchoredLeaf = {
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

/** A check's place in an anchor. `path`: the hashes (32 bytes each) of its RFC 9162 inclusion proof, leaf upwards. */
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
export type LeafPage = {
  /** 32 bytes each, end to end. */
  hashes: Uint8Array;
  /** The index after the last one; the page is empty when it equals the start. */
  next: number;
  /** False when an index is missing between. */
  whole: boolean;
  /** Leaves whose existing check has another hash, another body, or was made after the closing. */
  differing: LeafDifference[];
};
export type LeafDifference = { checkId: string; of: 'hash' | 'body' | 'time' };

/** A stamp of a check to be verified. The fields of the check are null once the check is deleted. */
export type StampToVerify = {
  subjectId: string;
  /** SHA-256 of the stamped data; the token may use another hash function. */
  digest: Uint8Array;
  token: Uint8Array;
  facts: StampFacts;
  checkHash: Uint8Array | null;
  /** The check's hashed form. */
  checkBody: Uint8Array | null;
  checkedAt: Date | null;
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
