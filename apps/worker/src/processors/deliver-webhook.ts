import {
  type AttemptToSend,
  type DeliveryAttempt,
  type deliverWebhook,
  MAX_STORED_ANSWER_BYTES,
  publicId,
  type SentAttempt,
} from '@vat/domain';
import type { DeliveryJob, JobHandler } from '@vat/queues';
import { errorFields } from '@vat/runtime';
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
  /** Called when a secret does not open. */
  onUnreadable: (fields: Record<string, unknown>) => void;
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

/** Signs an event and sends it; null when the secret does not open. */
export const sendSigned =
  ({ openSecret, send, userAgent, abortAttempts, now, onUnreadable }: SendSignedDeps) =>
  async ({ accountId, eventId, eventType, deliveryId, endpoint, body }: AttemptToSend): Promise<SentAttempt | null> => {
    const at = now();
    let secret: string;
    try {
      secret = openSecret(accountId, endpoint.secretSealed);
    } catch (error) {
      onUnreadable({ account_id: publicId('account', accountId), ...errorFields(error) });
      return null;
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
