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

/** Attempts of one endpoint in flight at once over the fleet, and while it is slow. */
const ENDPOINT_SHARE = 4;
const SLOW_ENDPOINT_SHARE = 2;
/** Endpoints that take longer are served among the retries: as first attempts they would hold up quick ones. */
const SLOW_AFTER_MS = 2_000;
/** So long an endpoint's place stays with its process when the next attempt does not come at once. */
const PLACE_RESTS_MS = 100;
/** A claim outlives the longest attempt by this: reading, signing and recording. */
const LEASE_MARGIN_MS = 3_000;

/** Serves the deliveries: first attempts, and apart from them the later ones. Throws SettingsError. */
export const composeWebhooks = (foundation: WorkerContext, cutAttempts: AbortSignal): Stoppable[] => {
  const { settings, log, now, metrics, db, producer, producerRedis, publishChange, serve } = foundation;
  const sender = createWebhookSender({
    timeoutMs: settings.WEBHOOK_TIMEOUT,
    allowed: allowedNetworksOf(settings),
    maxAnswerBytes: MAX_STORED_ANSWER_BYTES,
    now,
  });
  // Every attempt in flight listens; that is no leak.
  setMaxListeners(0, cutAttempts);
  const leaseMs = settings.WEBHOOK_TIMEOUT + LEASE_MARGIN_MS;
  const shares = limitEndpointConcurrency({
    connection: producerRedis,
    prefix: settings.REDIS_PREFIX,
    share: ENDPOINT_SHARE,
    slowShare: SLOW_ENDPOINT_SHARE,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: leaseMs,
    wake: (lane, jobId) => producer.promote(DELIVERY_QUEUES[lane], jobId),
  });
  const places = cachePermits({ take: shares, restMs: PLACE_RESTS_MS, maxMs: SLOW_AFTER_MS / 2 });

  // One of each for both lanes: what comes at the same time shares a statement.
  const claim = claimDelivery(db);
  const record = recordAttempt(db);
  const openSecret = createSecretOpener(settings.SECRET_KEY, settings.SECRET_KEY_PREVIOUS);
  for (const lane of Object.keys(DELIVERY_QUEUES) as DeliveryQueueClass[]) {
    serve(
      DELIVERY_QUEUES[lane],
      deliverWebhook({
        lane,
        acquirePermit: places.take,
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
        cutAttempts,
        userAgent: userAgentOf(settings.CONTACT_URL),
        now,
        log,
        metrics,
      }),
      { nameLines: false },
    );
  }
  return [
    { name: 'deliveries', stop: sender.close },
    { name: 'places', stop: places.close },
  ];
};
