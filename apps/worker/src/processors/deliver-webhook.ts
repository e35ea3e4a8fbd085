import {
  type AttemptToSend,
  type DeliveryAttempt,
  type deliverWebhook,
  MAX_STORED_ANSWER_BYTES,
  publicId,
  type SentAttempt,
} from '@vat/domain';
import type { DeliveryJob, JobHandler } from '@vat/queues';
import { errorFields, type Logger } from '@vat/runtime';
import { type AttemptResult, attemptSucceeded, signDelivery, type WebhookSender } from '@vat/webhooks';

/** The job of an attempt. */
export const jobOfAttempt = ({ deliveryId, accountId, number, traceparent }: DeliveryAttempt): DeliveryJob => ({
  delivery_id: deliveryId,
  account_id: accountId,
  attempt: number,
  traceparent,
});

/** Makes one attempt of a delivery. */
export const deliverWebhookJob =
  (deliver: ReturnType<typeof deliverWebhook>): JobHandler<DeliveryJob> =>
  async ({ delivery_id: deliveryId, account_id: accountId, attempt: number, traceparent }, { runs }) => {
    const again = await deliver({ deliveryId, accountId, number, traceparent }, runs);
    return again === null ? undefined : { again };
  };

type SendSignedDeps = {
  /** The secret as shown to the user. Throws SealedTextError. */
  openSecret: (accountId: string, sealed: Uint8Array) => string;
  send: WebhookSender['send'];
  userAgent: string;
  /** Aborts when a stopping process no longer waits for open attempts. */
  abortAttempts: AbortSignal;
  now: () => Date;
  log: Pick<Logger, 'error'>;
};

/** An attempt in the form of the delivery log. */
const loggedResult = ({ answer, timings, ...result }: AttemptResult): SentAttempt['attempt'] => ({
  ...result,
  timings: {
    dns_ms: timings.dnsMs,
    tcp_ms: timings.tcpMs,
    tls_ms: timings.tlsMs,
    first_byte_ms: timings.firstByteMs,
    total_ms: timings.totalMs,
  },
  answer: answer.subarray(0, MAX_STORED_ANSWER_BYTES),
  answerTruncated: result.answerTruncated || answer.byteLength > MAX_STORED_ANSWER_BYTES,
});

/** The attempt when its request could not be signed: nothing was sent, and it is retried like any failure. */
const unsigned = (at: Date): SentAttempt['attempt'] => ({
  at,
  statusCode: null,
  durationMs: 0,
  error: 'SECRET: the signing secret cannot be read; the operator has been notified',
  address: null,
  timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  answer: Buffer.alloc(0),
  answerTruncated: false,
});

/** Signs an event and sends it. */
export const sendSigned =
  ({ openSecret, send, userAgent, abortAttempts, now, log }: SendSignedDeps) =>
  async ({ accountId, eventId, eventType, deliveryId, endpoint, body }: AttemptToSend): Promise<SentAttempt> => {
    const at = now();
    let secret: string;
    try {
      secret = openSecret(accountId, endpoint.secretSealed);
    } catch (error) {
      log.error('A webhook secret cannot be decrypted; was SECRET_KEY changed?', {
        account_id: publicId('account', accountId),
        ...errorFields(error),
      });
      return { attempt: unsigned(at), succeeded: false, aborted: false };
    }
    const headers = signDelivery({
      secret,
      eventId: publicId('event', eventId),
      eventType,
      deliveryId: publicId('delivery', deliveryId),
      body,
      at,
      userAgent,
    });
    const result = await send({ url: endpoint.url, headers, body, signal: abortAttempts });
    return {
      // The delivery log shows the signed timestamp as the time of the attempt.
      attempt: { ...loggedResult(result), at },
      succeeded: attemptSucceeded(result),
      aborted: abortAttempts.aborted && result.error?.startsWith('ABORTED') === true,
    };
  };
