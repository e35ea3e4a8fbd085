import { setMaxListeners } from 'node:events';
import { claimDelivery, endRemovedDeliveries, recordAttempt, releaseDelivery } from '@vat/db';
import { MAX_STORED_ANSWER_BYTES, userAgentOf } from '@vat/domain';
import {
  cachePermits,
  DELIVERY_QUEUES,
  type DeliveryQueueClass,
  enqueueDelivery,
  limitEndpointConcurrency,
} from '@vat/queues';
import type { Stoppable } from '@vat/runtime';
import { createSecretOpener, createWebhookSender } from '@vat/webhooks';
import { deliverWebhook } from './processors/deliver-webhook.js';
import { allowedNetworksOf } from './settings.js';
import type { WorkerContext } from './worker-context.js';

/** Attempts to one endpoint in flight at once over the fleet, and while the endpoint is slow. */
const MAX_ATTEMPTS_PER_ENDPOINT = 4;
const MAX_ATTEMPTS_PER_SLOW_ENDPOINT = 2;
/** First attempts to an endpoint that takes longer move to the retries, so that they do not delay quick endpoints. */
const SLOW_AFTER_MS = 2_000;
/** How long a process retains a released permit for the next attempt to the same endpoint. */
const PERMIT_RETENTION_MS = 100;
/** By how much a claim outlasts the longest attempt: reading, signing and recording. */
const LEASE_MARGIN_MS = 3_000;

/** Serves the deliveries: first attempts and retries in separate queues. Throws SettingsError. */
export const composeWebhooks = (context: WorkerContext, abortAttempts: AbortSignal): Stoppable[] => {
  const { settings, log, now, metrics, db, producer, producerRedis, publishChange, serve } = context;
  const sender = createWebhookSender({
    timeoutMs: settings.WEBHOOK_TIMEOUT,
    allowed: allowedNetworksOf(settings),
    maxAnswerBytes: MAX_STORED_ANSWER_BYTES,
    now,
  });
  // Every attempt in flight adds a listener; this is not a leak.
  setMaxListeners(0, abortAttempts);
  const leaseMs = settings.WEBHOOK_TIMEOUT + LEASE_MARGIN_MS;
  const takePermit = limitEndpointConcurrency({
    connection: producerRedis,
    prefix: settings.REDIS_PREFIX,
    share: MAX_ATTEMPTS_PER_ENDPOINT,
    slowShare: MAX_ATTEMPTS_PER_SLOW_ENDPOINT,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: leaseMs,
    promote: (queueClass, jobId) => producer.promote(DELIVERY_QUEUES[queueClass], jobId),
  });
  const permits = cachePermits({ take: takePermit, restMs: PERMIT_RETENTION_MS, maxMs: SLOW_AFTER_MS / 2 });

  // Shared by both queue classes: calls at the same time are combined into one statement.
  const claim = claimDelivery(db);
  const record = recordAttempt(db);
  const openSecret = createSecretOpener(settings.SECRET_KEY, settings.SECRET_KEY_PREVIOUS);
  for (const queueClass of Object.keys(DELIVERY_QUEUES) as DeliveryQueueClass[]) {
    serve(
      DELIVERY_QUEUES[queueClass],
      deliverWebhook({
        queueClass,
        acquirePermit: permits.take,
        claim,
        release: releaseDelivery(db),
        record,
        endRemoved: endRemovedDeliveries(db),
        openSecret,
        send: sender.send,
        enqueue: enqueueDelivery(producer),
        changeQueueClass: (job) => producer.enqueue({ definition: DELIVERY_QUEUES.retry, payload: job }),
        publishChange,
        retryDelaysMs: settings.WEBHOOK_RETRY_DELAYS,
        leaseMs,
        abortAttempts,
        userAgent: userAgentOf(settings.CONTACT_URL),
        now,
        log,
        metrics,
      }),
      { logJobId: false },
    );
  }
  return [
    { name: 'deliveries', stop: sender.close },
    { name: 'permits', stop: permits.close },
  ];
};
