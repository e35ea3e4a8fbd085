import type { CheckEntry } from '../check/entry.js';
import type { Exchange } from '../check/upstream.js';
import type { Change } from '../watch/watch.js';

/** Checks that a dossier may hold. */
export const MAX_EXPORTED_CHECKS = 10_000;

/** Which evidence of an account is wanted; null where it is not restricted. `from` is inclusive, `to` exclusive. */
export type EvidenceChoice = { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };

/** A chosen check as it stood when it was chosen: its anchor, and whether it had a time-stamp. */
export type ChosenCheck = { id: string; anchorSeq: number | null; stamped: boolean };

/**
 * What an export holds, by id, as of one moment. Rows are read later, a slice at a time: what is recorded never changes, and
 * what is only added to it (anchors, time-stamps) is taken as it was at that moment. Every list rises.
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

/** Port: what an export reads, by ids; what is gone meanwhile is left out. */
export type ReadEvidence = {
  checks: (ids: readonly string[]) => Promise<ExportedCheck[]>;
  requests: (ids: readonly string[]) => Promise<ExportedRequest[]>;
  /** Exchanges by request, in the order in which they were made. */
  exchanges: (requestIds: readonly string[]) => Promise<Map<string, Exchange[]>>;
  anchors: (seqs: readonly number[]) => Promise<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>;
  changes: (ids: readonly string[]) => Promise<ExportedChange[]>;
};

/**
 * Port: leases on what an account may run only so many of at a time, over all processes: its one export, its downloads of
 * results. `take` and `renew` resolve to whether `holder` has a lease from now on.
 */
export type AccountLeases = {
  take: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  renew: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  release: (accountId: string, holder: string) => Promise<void>;
};

/** What is time-stamped: a check's hashed bytes, or an anchor's JCS form. The subject's id is that of its row. */
export type StampKind = 'check' | 'anchor';

/** What a verified token says. Source: RFC 3161 §2.4.2. */
export type StampFacts = {
  /** When the authority says it saw the digest. */
  genTime: Date;
  /** How far `genTime` may be off; null when the authority does not say. */
  accuracyMs: number | null;
  /** Lower-case hex of whole bytes. */
  serial: string;
  /** The policy's object identifier. */
  policy: string;
  /** The name in the signer's certificate; the development authority's has "development" in it. */
  authority: string;
  /** True for a token of the service's own authority, which proves nothing to anybody else. */
  development: boolean;
};

/** A time-stamp that was asked for. `facts` is set exactly when it is there; the token itself is read by itself. */
export type Stamp = {
  subjectId: string;
  kind: StampKind;
  /** Null for anchors, which are the whole service's. */
  accountId: string | null;
  requestedAt: Date;
  /** Tries so far; also the version of the row for the conditional update. */
  attempts: number;
  /** Set exactly while it is pending. */
  nextAttemptAt: Date | null;
  lastError: string | null;
  facts: StampFacts | null;
};

/** A stamp that is still to be made. `data`: the hashed form of the check, or of the anchor. */
export type PendingStamp = Pick<Stamp, 'subjectId' | 'kind' | 'accountId' | 'requestedAt' | 'attempts'> & {
  data: Uint8Array;
};

/** A stamp whose next try is to be made. */
export type DueStamp = { subjectId: string; dueAt: Date };

/** A position in the list of due stamps. */
export type StampCursor = DueStamp;

/** What a try made of a pending stamp. `token`: the authority's whole answer (TimeStampResp, DER), byte for byte. */
export type StampOutcome =
  | { kind: 'stamped'; token: Uint8Array; facts: StampFacts }
  /** `counts`: false when nobody was asked (the circuit is open). */
  | { kind: 'failed'; error: string; counts: boolean; nextAttemptAt: Date };

/**
 * Port: asks for the time-stamp of an account's own live check, at most once a check: the row, which is there from now on.
 * `null` when the account has no such check, or it is a test check.
 */
export type RequestStamp = (
  checkId: string,
  accountId: string,
  now: Date,
) => Promise<(Stamp & { created: boolean }) | null>;

/** Port: the stamp of an account's check; `null` when none was asked for or the check is not the account's. */
export type FindCheckStamp = (checkId: string, accountId: string) => Promise<Stamp | null>;

/** Port: the token of a stamp that is there, byte for byte. `accountId` null: of an anchor. */
export type FindToken = (subjectId: string, accountId: string | null) => Promise<Uint8Array | null>;

/** Port: what is to be stamped; `null` when there is no such row or it is stamped already. */
export type FindPendingStamp = (subjectId: string) => Promise<PendingStamp | null>;

/** Port: writes what a try made of a stamp, if it is where it was read (`attempts`); false when somebody else was faster. */
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

/** Where a check's leaf lies. `hash`: the leaf's data, which is the check's hash (32 bytes). */
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
export type BlockPosition = { seq: number; level: number; place: number };

/** Port: the block's hashes, 32 bytes each, end to end; shorter at the right edge of a level. */
export type ReadBlock = (block: BlockPosition) => Promise<Uint8Array>;

/** Port: many at once, in the order of `blocks`. */
export type ReadBlocks = (blocks: readonly BlockPosition[]) => Promise<Uint8Array[]>;

/** A check's place in an anchor. `path`: the hashes (32 bytes each) of its RFC 9162 inclusion proof, leaf upwards. */
export type AnchorProof = Omit<AnchoredLeaf, 'checkId' | 'hash'> & { path: Uint8Array[] };

/** Port: proofs of those of the checks that are anchored, by check id. Checks of one anchor share what is read. */
export type ProveChecks = (checkIds: readonly string[]) => Promise<Map<string, AnchorProof>>;

/** What a check shows of its evidence; null until it is there. */
export type CheckEvidence = {
  stamp: StampFacts | null;
  anchor: Omit<AnchoredLeaf, 'checkId' | 'hash'> | null;
};

/** Port: the evidence of checks that the caller has read as its own, by check id; every id given has an entry. */
export type FindEvidence = (checkIds: readonly string[]) => Promise<Map<string, CheckEvidence>>;

/** An anchor about to be written. `nodes`: the stored levels of its tree above the leaves, by level. */
export type NewAnchor = Omit<StoredAnchor, 'stamp'> & { nodes: ReadonlyMap<number, Uint8Array> };

/** What can be done while one closer holds the lock of all; everything is one transaction. */
export type AnchorClosing = {
  /** The body of the newest anchor; null before the first. */
  previous: Uint8Array | null;
  /**
   * Gives the next leaves without a place theirs in the anchor `seq`, from index `from` on, and returns their data end to
   * end, 32 bytes each; nothing once none are left.
   */
  take: (seq: number, from: number, limit: number) => Promise<Uint8Array>;
  /** Writes the anchor, and that it is to be stamped. */
  write: (anchor: NewAnchor) => Promise<void>;
};

/** Port: runs `work` in one transaction while no other does so anywhere; null when another is at it. */
export type CloseAlone = <T>(work: (closing: AnchorClosing) => Promise<T>) => Promise<{ done: T } | null>;

/** One anchor as the checker reads it. `token` is null until it is stamped; `stamped` tells whether a stamp was asked for. */
export type AnchorToVerify = StoredAnchor & { token: Uint8Array | null; stampDigest: Uint8Array | null };

/** A slice of an anchor's leaves in their order. */
export type LeafPage = {
  /** 32 bytes each, end to end. */
  hashes: Uint8Array;
  /** The index after the last one; the slice is empty when it is where it began. */
  next: number;
  /** False when an index is missing between. */
  whole: boolean;
  /** Leaves whose check is still there and does not have their hash, whose body does not, or that was made after the closing. */
  differing: LeafDifference[];
};
export type LeafDifference = { checkId: string; of: 'hash' | 'body' | 'time' };

/** A stamp of a check as the checker reads it. What is the check's is null once the check is gone. */
export type StampToVerify = {
  subjectId: string;
  /** SHA-256 of what was stamped, whatever hash function the token is made with. */
  digest: Uint8Array;
  token: Uint8Array;
  facts: StampFacts;
  checkHash: Uint8Array | null;
  /** The check's hashed form. */
  checkBody: Uint8Array | null;
  checkedAt: Date | null;
};

/** What the checker reads; every list in the order of its cursor, a slice at a time. */
export type AnchorAudit = {
  anchors: (afterSeq: number, limit: number) => Promise<AnchorToVerify[]>;
  leaves: (seq: number, from: number, limit: number) => Promise<LeafPage>;
  readBlock: ReadBlock;
  /** How many leaves lie in anchors after the last there is. */
  leavesBeyond: () => Promise<number>;
  /** Live checks without a leaf, and leaves in no anchor that differ from their check or name an anchor there is not. */
  unexpectedCalls: (
    afterCheckId: string | null,
    limit: number,
  ) => Promise<{ unexpectedCalls: UnexpectedCall[]; next: string | null }>;
  checkStamps: (afterId: string | null, limit: number) => Promise<StampToVerify[]>;
};
export type UnexpectedCall = { checkId: string; kind: 'no_leaf' | 'unanchored_differs' | 'unknown_anchor' };
