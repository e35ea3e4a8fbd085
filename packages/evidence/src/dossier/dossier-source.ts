import type {
  AccountChange,
  AnchorProof,
  AnchorToVerify,
  EvidenceChoice,
  Exchange,
  ExportedRequest,
  StoredCheck,
} from '@vat/domain';
import type { DossierFile } from './dossier-file.js';

/** One check with all its evidence. `hash` is the recorded value; the verifier compares it with the bytes. */
export type DossierCheck = Pick<StoredCheck, 'bytes' | 'hash'> & {
  /** Every exchange of the check's request, including unanswered ones, in order. */
  exchanges: readonly Exchange[];
  /** The authority's complete response (TimeStampResp, DER) for `bytes`; null if there is no time-stamp. */
  token: Uint8Array | null;
  /** Null until the check is anchored. */
  proof: AnchorProof | null;
};

/** One anchor; `token` is null until it is stamped. */
export type DossierAnchor = Pick<AnchorToVerify, 'seq' | 'body' | 'token'>;

/** A request without a check: abandoned, withdrawn or still pending. Its attempts are evidence of diligence. */
export type DossierRequest = Omit<ExportedRequest, 'state'> & {
  /** `withdrawn`: the caller got an error while the request was waiting, or the connection was lost. */
  status: 'pending' | 'abandoned' | 'withdrawn';
  exchanges: readonly Exchange[];
};

/** One change of a watched number, with the values of the API (docs/api.md). */
export type DossierWatchChange = Omit<AccountChange, 'id'>;

/**
 * The content of a dossier; ids are those of the rows. Each part is read once, in the order of this type, at the speed of the
 * reader, and `return()` is called if the reader stops early. Checks and requests must have ascending ids, anchors and
 * links an ascending `seq`, otherwise writing fails; a gap in `seq` interrupts the chain. Changes can have any stable order.
 */
export type DossierSource = {
  checks: AsyncIterable<DossierCheck>;
  requests: AsyncIterable<DossierRequest>;
  anchors: AsyncIterable<DossierAnchor>;
  /** The bodies of the anchors that connect those of `anchors` where an expired time-stamp needs a later one. */
  links: AsyncIterable<Pick<DossierAnchor, 'seq' | 'body'>>;
  watchChanges: AsyncIterable<DossierWatchChange>;
};

/** The account, selection and time-stamp of a dossier. `account.id`: the id of the row. */
export type DossierOptions = {
  account: { id: string; name: string };
  /** Start of the export. Every date in the zip and its documents is this one, so that equal evidence gives equal bytes. */
  createdAt: Date;
  choice: EvidenceChoice;
  /** The coverage whose checks these are, with its files in the dossier's folder `coverage/`. `id`: of the row. */
  coverage?: { id: string; files: () => AsyncIterable<DossierFile> } | undefined;
  /**
   * PEM certificates of every authority with a time-stamp in the dossier, and of the one that will stamp SHA256SUMS: those in
   * the tokens, and the root if it is known. In any order, repetitions are allowed. Called after the last stamped part of the
   * source was read, so that the source can collect the certificates of the tokens that it returned.
   */
  certificates: () => Promise<readonly string[]>;
  /**
   * Stamps the bytes of SHA256SUMS and resolves to the complete TimeStampResp. Null (no authority answered) leaves
   * SHA256SUMS.tsr out; such a dossier is readable, and the verifier reports that the time-stamp is missing.
   */
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>;
};
