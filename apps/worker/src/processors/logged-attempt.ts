import { KEPT_ANSWER_BYTES, type LoggedAttempt } from '@vat/domain';
import type { AttemptResult } from '@vat/webhooks';

/** An attempt in the form of the delivery log. */
export const loggedAttempt = (number: number, url: string, result: AttemptResult): LoggedAttempt => ({
  number,
  at: result.at,
  url,
  statusCode: result.statusCode,
  durationMs: result.durationMs,
  error: result.error,
  address: result.address,
  timings: {
    dns_ms: result.timings.dnsMs,
    tcp_ms: result.timings.tcpMs,
    tls_ms: result.timings.tlsMs,
    first_byte_ms: result.timings.firstByteMs,
    total_ms: result.timings.totalMs,
  },
  answer: result.answer.subarray(0, KEPT_ANSWER_BYTES),
  answerTruncated: result.answerTruncated || result.answer.byteLength > KEPT_ANSWER_BYTES,
});
