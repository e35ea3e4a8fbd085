/** The languages of certificates and reports. */
export const DOCUMENT_LANGUAGES = ['en', 'de', 'fr', 'it', 'es', 'pl', 'nl'] as const;
export type DocumentLanguage = (typeof DOCUMENT_LANGUAGES)[number];

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

/** A stamp that is not made yet. `data`: the hashed form of the check, or of the anchor, which was made at `madeAt`. */
export type PendingStamp = Pick<Stamp, 'subjectId' | 'kind' | 'accountId' | 'requestedAt' | 'attempts'> & {
  data: Uint8Array;
  madeAt: Date;
};

/** How far the clock of a trusted authority may be behind ours: five minutes, plus its accuracy of at most one minute. */
export const MAX_BEHIND_MS = 360_000;

/** A stamp whose next attempt is due. */
export type DueStamp = { subjectId: string; dueAt: Date };

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
