import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { claimDelivery, endRemovedDeliveries, recordAttempt, releaseDelivery } from '@vat/db';
import { deliverWebhook, MAX_STORED_ANSWER_BYTES, publicId, userAgentOf } from '@vat/domain';
import { DELIVERY_QUEUES, type DeliveryQueueClass, endpointPermits, enqueueDelivery } from '@vat/queues';
import { errorFields, type Stoppable, throttledLog, traceFields } from '@vat/runtime';
import { createSecretOpener, createWebhookSender } from '@vat/webhooks';
import { deliverWebhookJob, jobOfAttempt, sendSigned } from './processors/deliver-webhook.js';
import { allowedNetworksOf } from './settings.js';
import { traceAttempt } from './trace-calls.js';
import type { WorkerContext } from './worker-context.js';

/** Attempts to one endpoint in flight at once over the fleet, and while the endpoint is slow. */
const MAX_ATTEMPTS_PER_ENDPOINT = 4;
const MAX_ATTEMPTS_PER_SLOW_ENDPOINT = 2;
/** First attempts to an endpoint that takes longer move to the retries, so that they do not delay quick endpoints. */
const SLOW_AFTER_MS = 2_000;
/** By how much a permit outlasts the longest attempt: reading, signing and recording. */
const PERMIT_MARGIN_MS = 3_000;
/** By how much a claim outlasts the longest attempt. It covers a restart of Postgres between an attempt and its recording. */
const LEASE_MARGIN_MS = 15_000;

/** The deliveries: first attempts and retries in separate queues. Throws SettingsError. */
export const composeWebhooks = (context: WorkerContext, abortAttempts: AbortSignal) => {
  const { settings, log, now, metrics, db, producer, producerRedis, publishChange, tracing } = context;
  const sender = createWebhookSender({
    timeoutMs: settings.WEBHOOK_TIMEOUT,
    allowed: allowedNetworksOf(settings),
    maxAnswerBytes: MAX_STORED_ANSWER_BYTES,
    now,
  });
  // Every attempt in flight adds a listener; this is not a leak.
  setMaxListeners(0, abortAttempts);
  const acquirePermit = endpointPermits({
    connection: producerRedis,
    prefix: settings.REDIS_PREFIX,
    share: MAX_ATTEMPTS_PER_ENDPOINT,
    slowShare: MAX_ATTEMPTS_PER_SLOW_ENDPOINT,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: settings.WEBHOOK_TIMEOUT + PERMIT_MARGIN_MS,
    promote: (queueClass, jobId) => producer.promote(DELIVERY_QUEUES[queueClass], jobId),
  });

  // Shared by both queue classes: calls at the same time are combined into one statement.
  const claim = claimDelivery(db);
  const record = recordAttempt(db);
  const send = sendSigned({
    openSecret: createSecretOpener(settings.SECRET_KEY, settings.SECRET_KEY_PREVIOUS),
    send: sender.send,
    userAgent: userAgentOf(settings.CONTACT_URL),
    abortAttempts,
    now,
    onUnreadable: throttledLog(
      (fields) =>
        log.error('A webhook secret cannot be decrypted; its deliveries wait. Was SECRET_KEY changed?', fields),
      now,
    ),
  });
  const deliver = (queueClass: DeliveryQueueClass) =>
    deliverWebhook({
      acquirePermit: (attempt) =>
        acquirePermit(attempt.accountId, DELIVERY_QUEUES[queueClass].jobId(jobOfAttempt(attempt)), queueClass),
      claim,
      release: releaseDelivery(db),
      record,
      endRemoved: endRemovedDeliveries(db),
      send,
      enqueue: enqueueDelivery(producer),
      moveToRetries: (attempt) =>
        producer.enqueue({ definition: DELIVERY_QUEUES.retry, payload: jobOfAttempt(attempt) }),
      publishChange,
      onClaimed: (waitedMs) => metrics.deliveryWaits.observe({ lane: queueClass }, waitedMs / 1_000),
      onAttempted: (attempt, logged, outcome) => {
        const { deliveryId, number, traceparent } = attempt;
        const { durationMs, statusCode, error } = logged;
        if (tracing) traceAttempt(tracing, attempt, logged, outcome);
        metrics.deliveryAttempts.observe({ lane: queueClass, outcome }, durationMs / 1_000);
        log.debug('A delivery was attempted.', {
          delivery: publicId('delivery', deliveryId),
          attempt: number,
          outcome,
          status_code: statusCode,
          error,
          ...traceFields(traceparent),
        });
      },
      onEnqueueFailure: (error) => log.warn('A retry was not enqueued; the sweep will enqueue it.', errorFields(error)),
      retryDelaysMs: settings.WEBHOOK_RETRY_DELAYS,
      leaseMs: settings.WEBHOOK_TIMEOUT + LEASE_MARGIN_MS,
      pause: (ms) => pause(ms),
      random: Math.random,
      now,
    });
  const parts: Stoppable[] = [{ name: 'deliveries', stop: sender.close }];
  return { deliveries: deliverWebhookJob(deliver('first')), retries: deliverWebhookJob(deliver('retry')), parts };
};
