/**
 * Why a delivery was not believed. The first four say that the sender is not the service (or that the clock is off), the
 * last three that the receiver is set up wrongly or that something on the way changed the request.
 */
export type VerificationErrorCode =
  /** A header is there and cannot be read: not a timestamp, not a signature, or given twice with different values. */
  | 'MALFORMED_HEADER'
  /** No signature, or a signature without its timestamp or id. */
  | 'MISSING_HEADER'
  /** No given secret makes this signature of this body. */
  | 'SIGNATURE_MISMATCH'
  /** Rightly signed, but too long ago or too far ahead of this machine's clock: a replay, or a wrong clock. */
  | 'TIMESTAMP_OUTSIDE_TOLERANCE'
  /** Rightly signed, but no JSON object with an `event`. */
  | 'INVALID_BODY'
  /** The body was parsed before it got here, so the signed bytes are gone. */
  | 'BODY_NOT_RAW'
  /** The receiver has no secret, or one that is not the `whsec_…` shown when the webhook was saved. */
  | 'INVALID_SECRET';

/** The one error of this package. `message` is meant for a log and holds neither secret nor expected signature. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
