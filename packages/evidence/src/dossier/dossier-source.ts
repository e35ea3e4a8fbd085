import type { CheckEntry, Exchange } from '@vat/domain';

/** A check's place in an anchor. `path`: the hashes (32 bytes each) of its RFC 9162 inclusion proof, leaf upwards. */
export type DossierProof = {
  anchorId: string;
  seq: number;
  leafIndex: number;
  treeSize: number;
  path: readonly Uint8Array[];
};

/** One check with everything that proves it. Ids are public ids (`chk_…`, `anc_…`). */
export type DossierCheck = {
  id: string;
  /** The hashed bytes, and the 32 bytes of SHA-256 as they were recorded; the verifier compares the two. */
  bytes: Uint8Array;
  hash: Uint8Array;
  /** Every exchange of the check's request, unanswered ones included, in the order in which they were made. */
  exchanges: readonly Exchange[];
  /** The authority's whole answer (TimeStampResp, DER) over `bytes`; null where none was asked for. */
  timestamp: Uint8Array | null;
  proof: DossierProof | null;
};

/** One anchor. `bytes`: its JCS form of seven keys; `timestamp`: the TimeStampResp over them, null until it is stamped. */
export type DossierAnchor = { seq: number; bytes: Uint8Array; timestamp: Uint8Array | null };

/** A request that was abandoned, or that still waits: what was tried although no check came of it. */
export type DossierRequest = {
  id: string;
  vatNumber: string;
  requester: string | null;
  reference: string | null;
  status: 'pending' | 'abandoned';
  createdAt: Date;
  acceptedAt: Date | null;
  giveUpAt: Date | null;
  endedAt: Date | null;
  attempts: number;
  lastError: string | null;
  reason: string | null;
  entries: readonly CheckEntry[];
  exchanges: readonly Exchange[];
};

/** One change of a watched number, as the contract gives it (part 2 §6). */
export type DossierWatchChange = {
  watchId: string;
  vatNumber: string;
  label: string | null;
  kind: string;
  before: string | boolean | null;
  after: string | boolean | null;
  checkId: string;
  changedAt: Date;
};

/**
 * What goes into a dossier. Each part is read once, in the order of this type, as fast as the reader takes it, and is
 * told to `return()` when the reader goes away. Checks and requests come with rising ids, anchors with rising `seq` (best
 * without gaps: a gap interrupts the chain), changes in any stable order; writing fails otherwise.
 */
export type DossierSource = {
  checks: AsyncIterable<DossierCheck>;
  requests: AsyncIterable<DossierRequest>;
  anchors: AsyncIterable<DossierAnchor>;
  watchChanges: AsyncIterable<DossierWatchChange>;
};

/** What was exported, for whom, and who vouches for it. */
export type DossierOptions = {
  account: { id: string; name: string };
  /** When the export began: every date in the zip and its documents, so that equal evidence gives equal bytes. */
  createdAt: Date;
  /** The caller's choice; null where it did not restrict. `from` is inclusive, `to` exclusive. */
  choice: { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };
  /** PEM of the time-stamping authorities, of all that stamped anything in here: self-signed ones, and those between. */
  certificates: { roots: readonly string[]; intermediates: readonly string[] };
  /**
   * Stamps the bytes of SHA256SUMS and resolves to the whole TimeStampResp. Null (no authority answered) leaves
   * SHA256SUMS.tsr out; such a dossier is readable, and the verifier says that it does not hold as a whole.
   */
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>;
};
