import type { Settled, Settlement } from '@vat/db';
import {
  type Answer,
  type CheckRequest,
  checkCompletedBody,
  type DueDelivery,
  type Exchange,
  newUuid,
  publicCheck,
  publicId,
  type TellPages,
} from '@vat/domain';
import type { RequestJob } from '@vat/queues';
import type { Logger } from '@vat/runtime';
import type { BatchStep } from '../batch-progress.js';
import type { makeCheck } from './make-check.js';
import type { observeWatch } from './observe-watch.js';

export type RecordCheckDeps = {
  make: ReturnType<typeof makeCheck>;
  observeWatch: ReturnType<typeof observeWatch>;
  settleRequest: (settlement: Settlement) => Promise<Settled>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Told of every request of a batch that was recorded. */
  advanced: (step: BatchStep) => void;
  tellPages: TellPages;
  hint: (job: RequestJob) => Promise<void>;
  now: () => Date;
  log: Logger;
};

export type CheckToRecord = {
  job: RequestJob;
  /** With all its entries. */
  request: CheckRequest;
  answer: Answer;
  exchanges: Exchange[];
  ask?: Settlement['ask'];
};

/** Makes the check and records it with everything it causes, in one transaction, once. Tells who waits; null when too late. */
export const recordCheck =
  ({ make, observeWatch, settleRequest, enqueueDelivery, advanced, tellPages, hint, now, log }: RecordCheckDeps) =>
  async ({ job, request, answer, exchanges, ask }: CheckToRecord): Promise<Settled> => {
    const at = now();
    const { hashed, check } = make(request, answer);
    const settled = await settleRequest({
      requestId: request.id,
      entries: request.entries,
      check,
      consumes: answer.verdict !== 'malformed',
      exchanges,
      ask,
      event: { id: newUuid(), type: 'check.completed', body: checkCompletedBody(request, publicCheck(hashed)) },
      deliveryId: newUuid(),
      ofBatch: request.origin === 'batch',
      watch: request.origin === 'watch' ? await observeWatch({ id: check.id, request, answer, now: at }) : undefined,
      now: at,
    });
    if (settled)
      log.debug('A check was recorded.', { request: request.id, check_id: hashed.body.id, verdict: answer.verdict });
    if (settled && request.origin === 'batch') advanced({ memberState: request.memberState, batchId: settled.batchId });
    if (settled) {
      tellPages(request.accountId, 'checks', publicId('check', check.id));
      if (settled.batchId !== null) tellPages(request.accountId, 'batches', publicId('batch', settled.batchId));
      if (settled.acceptedAt !== null) tellPages(request.accountId, 'requests', publicId('request', request.id));
      if (request.origin === 'watch') tellPages(request.accountId, 'watches');
    }
    await hint(job);
    for (const deliveryId of settled?.deliveryIds ?? [])
      await enqueueDelivery({ id: deliveryId, accountId: request.accountId, attempt: 1, dueAt: at });
    return settled;
  };
