import type { StampFacts } from '@vat/domain';

/** A verified time-stamp. */
export type Timestamp = StampFacts & {
  /** The authority's complete response (TimeStampResp, DER), byte for byte. */
  tokenBytes: Uint8Array;
  /** PEM: the signer's certificate, then the issuer of each, up to the topmost known one. */
  certificates: string[];
  /** When the first of these certificates expires. */
  validUntil: Date;
};

/** The reason why there is no time-stamp. The first group: there was no response. The second: the response is invalid. */
export type TimestampRefusal =
  | 'unreachable'
  | 'deadline'
  | 'aborted'
  | 'http_status'
  | 'content_type'
  | 'too_long'
  | 'circuit_open'
  // Invalid response:
  | 'unreadable'
  | 'not_granted'
  | 'wrong_content'
  | 'wrong_imprint_algorithm'
  | 'wrong_imprint'
  | 'wrong_nonce'
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

/** A text of an authority without control characters and lone surrogates, which the database refuses. */
export const plainText = (text: string): string => text.toWellFormed().replace(/\p{Cc}+/gu, ' ');

/** Thrown by everything that requests or verifies a time-stamp; the message is one sentence for an operator. */
export class TimestampRefused extends Error {
  override name = 'TimestampRefused';
  constructor(
    readonly refusal: TimestampRefusal,
    message: string,
  ) {
    super(plainText(message));
  }
}
