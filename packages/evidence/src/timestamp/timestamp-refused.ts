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
