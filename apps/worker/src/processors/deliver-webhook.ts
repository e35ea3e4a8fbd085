import type { AttemptToClaim, AttemptToRecord, Claim, ClaimedAttempt } from '@vat/db';
import {
  type DueDelivery,
  type LoggedAttempt,
  MAX_STORED_ANSWER_BYTES,
  type PublishChange,
  planDelivery,
  publicId,
} from '@vat/domain';
import type { AcquirePermit, DeliveryJob, DeliveryQueueClass, JobHandler, JobResult, PermitUse } from '@vat/queues';
import { errorFields, type Logger, type Metrics } from '@vat/runtime';
import { type AttemptResult, attemptSucceeded, signDelivery, type WebhookSender } from '@vat/webhooks';

/** An attempt in the form of the delivery log. */
const loggedAttempt = (number: number, url: string, result: AttemptResult): LoggedAttempt => ({
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
  answer: result.answer.subarray(0, MAX_STORED_ANSWER_BYTES),
  answerTruncated: result.answerTruncated || result.answer.byteLength > MAX_STORED_ANSWER_BYTES,
});

type DeliverWebhookDeps = {
  queueClass: DeliveryQueueClass;
  acquirePermit: AcquirePermit;
  claim: (attempt: AttemptToClaim) => Promise<Claim>;
  release: (deliveryId: string, number: number) => Promise<void>;
  record: (attempt: AttemptToRecord) => Promise<boolean>;
  endRemoved: (now: Date, deliveryId: string) => Promise<number>;
  /** The secret as shown to the user. Throws SealedTextError. */
  openSecret: (accountId: string, sealed: Uint8Array) => string;
  send: WebhookSender['send'];
  userAgent: string;
  enqueue: (delivery: DueDelivery) => Promise<void>;
  /** Moves a first attempt to the retries because its endpoint is slow. */
  changeQueueClass: (job: DeliveryJob) => Promise<void>;
  publishChange: PublishChange;
  retryDelaysMs: readonly number[];
  /** How long a claim lasts in milliseconds: longer than an attempt can take. */
  leaseMs: number;
  /** Aborts when a stopping process no longer waits for open attempts. */
  abortAttempts: AbortSignal;
  now: () => Date;
  log: Logger;
  metrics: Pick<Metrics, 'deliveryAttempts' | 'deliveryWaits'>;
};

/**
 * Makes one attempt of a delivery with the current URL and secret of the endpoint and the stored bytes of the event. Records
 * the attempt and the next state of the delivery in one statement.
 */
export const deliverWebhook = (deps: DeliverWebhookDeps): JobHandler<DeliveryJob> => {
  const { queueClass, now, log, metrics } = deps;

  const attemptOnce = async (
    job: DeliveryJob,
    { eventId, eventType, body }: ClaimedAttempt,
    endpoint: NonNullable<ClaimedAttempt['endpoint']>,
    deliveryId: string,
  ): Promise<AttemptResult> => {
    const at = now();
    let secret: string;
    try {
      secret = deps.openSecret(job.account_id, endpoint.secretSealed);
    } catch (error) {
      log.error('A webhook secret cannot be decrypted; was SECRET_KEY changed?', {
        account_id: job.account_id,
        ...errorFields(error),
      });
      return unsigned(at);
    }
    const headers = signDelivery({
      secret,
      eventId: publicId('event', eventId),
      eventType,
      deliveryId,
      body,
      at,
      userAgent: deps.userAgent,
    });
    // The delivery log shows the signed timestamp as the time of the attempt.
    return { ...(await deps.send({ url: endpoint.url, headers, body, signal: deps.abortAttempts })), at };
  };

  const settle = async (
    job: DeliveryJob,
    url: string,
    result: AttemptResult,
    deliveryId: string,
  ): Promise<undefined> => {
    const succeeded = attemptSucceeded(result);
    const plan = planDelivery({ number: job.attempt, succeeded, endedAt: now() }, deps.retryDelaysMs);
    const attempt = loggedAttempt(job.attempt, url, result);
    const recorded = await deps.record({ deliveryId: job.delivery_id, attempt, plan });
    const outcome = plan.state === 'pending' ? 'retry' : plan.state;
    metrics.deliveryAttempts.observe({ lane: queueClass, outcome }, result.durationMs / 1_000);
    log.debug('A delivery was attempted.', {
      delivery: job.delivery_id,
      attempt: job.attempt,
      outcome,
      status_code: result.statusCode,
      error: result.error,
    });
    if (recorded) deps.publishChange(job.account_id, 'deliveries', deliveryId);
    if (!recorded || plan.nextAttemptAt === null) return;
    const { delivery_id: id, account_id: accountId } = job;
    await deps
      .enqueue({ id, accountId, attempt: job.attempt + 1, dueAt: plan.nextAttemptAt })
      .catch((error: unknown) => log.warn('A retry was not enqueued; the sweep will enqueue it.', errorFields(error)));
  };

  const deliver = async (job: DeliveryJob): Promise<{ result: JobResult } & PermitUse> => {
    const unused = { durationMs: null, runsAgain: false };
    const at = now();
    const claim = await deps.claim({
      deliveryId: job.delivery_id,
      number: job.attempt,
      now: at,
      leasedUntil: new Date(at.getTime() + deps.leaseMs),
    });
    if (claim.kind === 'not_yet') return { result: { again: claim.at }, ...unused };
    // Held: the job ends, and the sweep enqueues another one once the account is enabled.
    if (claim.kind === 'settled' || claim.kind === 'held') return { result: undefined, ...unused };
    const { endpoint, dueAt } = claim.attempt;
    if (endpoint === null) {
      await deps.endRemoved(at, job.delivery_id);
      return { result: undefined, ...unused };
    }
    metrics.deliveryWaits.observe({ lane: queueClass }, Math.max(0, (at.getTime() - dueAt.getTime()) / 1_000));
    const deliveryId = publicId('delivery', job.delivery_id);
    const attempted = await attemptOnce(job, claim.attempt, endpoint, deliveryId);
    const aborted = deps.abortAttempts.aborted && attempted.error?.startsWith('ABORTED');
    if (aborted && !attemptSucceeded(attempted)) {
      // Aborted by this process: it does not count as an attempt.
      await deps.release(job.delivery_id, job.attempt);
      return { result: { again: now() }, durationMs: null, runsAgain: true };
    }
    const { durationMs } = attempted;
    return { result: await settle(job, endpoint.url, attempted, deliveryId), durationMs, runsAgain: false };
  };

  return async (job, { jobId }) => {
    const permit = await deps.acquirePermit(job.account_id, jobId, queueClass);
    if (permit.kind === 'full') return { again: new Date(now().getTime() + permit.waitMs), onPutOff: permit.suspend };
    if (permit.kind === 'slow') {
      await deps.changeQueueClass(job);
      return undefined;
    }
    // A job that throws runs again a second later; its permit is free until then.
    let use: PermitUse = { durationMs: null, runsAgain: false };
    try {
      const { result, ...used } = await deliver(job);
      use = used;
      return result;
    } finally {
      await permit.release(use);
    }
  };
};

/** The result when the request could not be signed: nothing was sent, and it is retried like any failure. */
const unsigned = (at: Date): AttemptResult => ({
  at,
  statusCode: null,
  durationMs: 0,
  error: 'SECRET: the signing secret cannot be read; the operator has been notified',
  address: null,
  timings: { dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: 0 },
  answer: Buffer.alloc(0),
  answerTruncated: false,
});
