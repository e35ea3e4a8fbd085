import type { AnchorProof, AnchorToVerify, CheckEntry, Exchange, StoredCheck } from '@vat/domain';

/** One check with everything that proves it. `hash` is what was recorded; the verifier compares it with the bytes. */
export type DossierCheck = Pick<StoredCheck, 'bytes' | 'hash'> & {
  /** Every exchange of the check's request, unanswered ones included, in the order in which they were made. */
  exchanges: readonly Exchange[];
  /** The authority's whole answer (TimeStampResp, DER) over `bytes`; null where there is no time-stamp. */
  token: Uint8Array | null;
  /** Null while it is in no anchor. */
  proof: AnchorProof | null;
};

/** One anchor; `token` is null until it is stamped. */
export type DossierAnchor = Pick<AnchorToVerify, 'seq' | 'body' | 'token'>;

/** A request that was abandoned, or that still waits: what was tried although no check came of it. */
export type DossierRequest = {
  id: string;
  vatNumber: string;
  requester: string | null;
  reference: string | null;
  /** `withdrawn`: refused to its caller while it waited, or the caller was lost. */
  status: 'pending' | 'abandoned' | 'withdrawn';
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
 * What goes into a dossier; ids are those of the rows. Each part is read once, in the order of this type, as fast as the
 * reader takes it, and is told to `return()` when the reader goes away. Checks and requests come with rising ids, anchors
 * with rising `seq` (best without gaps: a gap interrupts the chain), changes in any stable order; writing fails otherwise.
 */
export type DossierSource = {
  checks: AsyncIterable<DossierCheck>;
  requests: AsyncIterable<DossierRequest>;
  anchors: AsyncIterable<DossierAnchor>;
  watchChanges: AsyncIterable<DossierWatchChange>;
};

/** What was exported, for whom, and who vouches for it. `account.id`: that of the row. */
export type DossierOptions = {
  account: { id: string; name: string };
  /** When the export began: every date in the zip and its documents, so that equal evidence gives equal bytes. */
  createdAt: Date;
  /** The caller's choice; null where it did not restrict. `from` is inclusive, `to` exclusive. */
  choice: { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };
  /**
   * PEM of every authority that stamped anything in here, or will stamp SHA256SUMS: what is in its tokens, and its root
   * where that is known. In any order; repetitions do no harm. Asked for once the last stamped part of the source was read,
   * so that whoever hands the tokens out can coalesce them.
   */
  certificates: () => Promise<readonly string[]>;
  /**
   * Stamps the bytes of SHA256SUMS and resolves to the whole TimeStampResp. Null (no authority answered) leaves
   * SHA256SUMS.tsr out; such a dossier is readable, and the verifier says that it does not hold as a whole.
   */
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>;
};
