import type {
  CheckOutcome,
  CheckSource,
  MatchLetter,
  SourceFacts,
  TraderField,
  TraderMatch,
  Verdict,
} from '@vat/domain';

/** A comparison of VIES: `valid`, `invalid` or `not_processed`. */
type ViesWord = NonNullable<TraderMatch[TraderField]>;

/**
 * Every text of the certificate in one language. The number is named as in that language's version of Directive 2006/112/EC
 * (Articles 214 and 226), VIES's words as VIES itself shows them in that language. Labels have at most 45 characters.
 */
export type CertificateTexts = {
  title: string;
  made: (at: string, url: string) => string;
  verdicts: Record<Verdict, string>;
  test: string;
  sentences: Record<Verdict, string> & {
    /** VIES rejected the number as malformed. */
    rejected: string;
    test: string;
  };
  grade: string;
  contradicted: string;
  name: string;
  address: string;
  notDisclosed: string;
  input: string;
  requester: string;
  consultationNumber: string;
  /** Why there is no consultation number. */
  withoutNumber: { notQueried: string; noRequester: string; notGiven: string };
  viesMatch: string;
  viesWords: Record<ViesWord, string>;
  given: string;
  match: string;
  score: (score: number) => string;
  nothingToCompare: string;
  registers: string;
  reference: string;
  checkedAt: string;
  check: string;
  request: string;
  traderFields: Record<TraderField, string>;
  facts: Record<keyof SourceFacts, string>;
  letters: Record<MatchLetter, string>;
  none: string;
  sources: string;
  columns: { source: string; outcome: string; calls: string; started: string; duration: string };
  /** Sources that have no name of their own. */
  sourceNames: Pick<Record<CheckSource, string>, 'syntax' | 'vies_confirmation'>;
  outcomes: Record<CheckOutcome, string>;
  /** Of a format, where the word for a valid number does not fit one. */
  validFormat?: string;
  contradicts: string;
  evidence: string;
  hash: string;
  timestamp: string;
  stamped: (at: string, authority: string) => string;
  development: string;
  notStamped: string;
  anchor: string;
  /** `leaf` counts from 1. */
  position: (seq: number, closedAt: string, leaf: number, size: number) => string;
  notAnchored: string;
  /** Of the time-stamp and the anchor of a test check. */
  neverForTests: string;
  root: string;
  anchorStamp: string;
  attachments: string;
  verify: string;
  /** The steps of a verification. Files are named as they are attached. */
  steps: {
    record: (url: string) => string;
    timestamp: (command: string) => string;
    anchor: string;
    online: (url: string) => string;
  };
  dossier: string;
  scan: string;
  footer: string;
};
