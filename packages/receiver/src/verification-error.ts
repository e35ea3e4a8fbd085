/**
 * The reason why a delivery was refused. With one of the first four, the sender is not the service or a clock is wrong.
 * With one of the last three, the receiver is misconfigured or an intermediary changed the request.
 */
export type VerificationErrorCode =
  /** A header is present but cannot be read: it is not a timestamp or signature, or it has two different values. */
  | 'MALFORMED_HEADER'
  /** No signature, or a signature without its timestamp or id. */
  | 'MISSING_HEADER'
  /** The signature does not match the body with any of the given secrets. */
  | 'SIGNATURE_MISMATCH'
  /**
   * The signature is correct, but the timestamp is too far behind or ahead of this machine's clock: a replay, or a
   * wrong clock.
   */
  | 'TIMESTAMP_OUTSIDE_TOLERANCE'
  /** The signature is correct, but the body is not a JSON object with an `event`. */
  | 'INVALID_BODY'
  /** The body is already parsed, so the signed bytes are not available. */
  | 'BODY_NOT_RAW'
  /** The receiver has no secret, or one that does not have the form `whsec_…`. */
  | 'INVALID_SECRET';

/**
 * The only error class of this package. `message` is meant for a log and contains neither secret nor expected
 * signature.
 */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
