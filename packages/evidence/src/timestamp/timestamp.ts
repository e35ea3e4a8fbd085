/** A verified time-stamp. */
export type Timestamp = {
  /** The authority's whole answer (TimeStampResp, DER), byte for byte. */
  tokenBytes: Uint8Array;
  /** When the authority says it saw the digest. */
  genTime: Date;
  /** How far `genTime` may be off; null when the authority does not say. */
  accuracyMs: number | null;
  /** The token's number at its authority: lower-case hex of whole bytes, none of them a leading zero. */
  serial: string;
  /** The policy's object identifier. */
  policy: string;
  /** The name in the signer's certificate. The development authority's has "development" in it. */
  authority: string;
  /** True for a token of this project's own authority, which proves nothing to anybody else. */
  development: boolean;
  /** PEM: the signer's certificate, then each one's issuer, up to the topmost that is known. */
  certificates: string[];
};

/** Why there is no time-stamp. The first group never reached an answer, the second found something wrong in it. */
export type TimestampRefusal =
  | 'unreachable'
  | 'deadline'
  | 'aborted'
  | 'http_status'
  | 'content_type'
  | 'too_long'
  | 'circuit_open'
  // Of the answer:
  | 'unreadable'
  | 'not_granted'
  | 'wrong_content'
  | 'wrong_imprint_algorithm'
  | 'wrong_imprint'
  | 'wrong_nonce'
  | 'wrong_policy'
  | 'wrong_accuracy'
  | 'wrong_time'
  | 'wrong_signers'
  | 'unsupported_form'
  | 'no_certificate'
  | 'wrong_attributes'
  | 'wrong_message_digest'
  | 'wrong_signing_certificate'
  | 'unknown_algorithm'
  | 'wrong_signature'
  | 'wrong_purpose'
  | 'wrong_chain'
  | 'other_root';

/** Thrown by everything that asks for or verifies a time-stamp; the message is one sentence for an operator. */
export class TimestampRefused extends Error {
  override name = 'TimestampRefused';
  constructor(
    readonly refusal: TimestampRefusal,
    message: string,
  ) {
    super(message);
  }
}

/**
 * From a failed try for a time-stamp to the next, in milliseconds; the last one repeats, since a stamp is worth having
 * however late. One schedule for checks and anchors alike: 10 s, 1 min, 5 min, 15 min, 1 h.
 */
export const TIMESTAMP_RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 300_000, 900_000, 3_600_000];
