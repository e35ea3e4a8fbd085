import type { DueDelivery } from '../delivery/delivery.js';
import { checkFailedBody } from '../delivery/event-bodies.js';
import { newUuidAt } from '../ids.js';
import type { EndedAs, EndedRequest, EndRequest } from './ports.js';

type AbandonRequestDeps<R> = {
  endRequest: EndRequest;
  /** Called once the request has ended, before its delivery is enqueued. */
  onEnded: (request: R, ended: EndedAs) => void;
  /** Enqueues the delivery of check.failed. A failure is harmless: the sweep of deliveries finds the row. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
};

/**
 * Ends a request without a check and writes its check.failed event, in one transaction. Does nothing when the request has
 * ended already or its answer has arrived.
 */
export const abandonRequest =
  <R extends EndedRequest & Pick<DueDelivery, 'traceparent'>>({
    endRequest,
    onEnded,
    enqueueDelivery,
  }: AbandonRequestDeps<R>) =>
  async (request: R, now: Date): Promise<void> => {
    const { id: requestId, accountId, reason, lastError, traceparent } = request;
    const ended = await endRequest({
      requestId,
      reason,
      event: { id: newUuidAt(now), type: 'check.failed', body: checkFailedBody(request, reason, lastError) },
      deliveryId: newUuidAt(now),
      now,
    });
    if (!ended) return;
    onEnded(request, ended);
    if (ended.deliveryId !== null)
      await enqueueDelivery({ id: ended.deliveryId, accountId, attempt: 1, dueAt: now, traceparent }).catch(
        () => undefined,
      );
  };
