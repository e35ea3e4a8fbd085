import { randomUUID } from 'node:crypto';
import { retryPolicies } from '@vat/composition';
import {
  acceptRequest,
  admitRequest,
  findAwaitedRequest,
  findCheck,
  findCheckWithEvidence,
  findIdempotencyKey,
  findMovedRequests,
  findRequest,
  findUsage,
  listChecks,
  recordMalformed,
  relockIdempotencyKey,
  storeIdempotentAnswer,
} from '@vat/db';
import { publicId, type RequestCheckDeps, requestCheck } from '@vat/domain';
import { hashCheck, newSalt } from '@vat/evidence';
import { lookupQueueOf, subscribeNotifications, turnOf } from '@vat/queues';
import { errorFields, type SettingsOf, throttledWarn } from '@vat/runtime';
import { type ApiContext, HUNG_AFTER_MS } from './api-context.js';
import { requestNotifier } from './request-notifier.js';
import { keyedSemaphore } from './turns.js';

/** Composes direct checks: their repositories, their lookup jobs, and the notifications that workers send back. */
export const composeChecks = (settings: SettingsOf<'api'>, context: ApiContext) => {
  const { db, producer, subscriberRedis, publishChange, log, stopping, now } = context;

  // Lookup jobs carry the id of this process, so that the worker notifies the process whose caller is waiting.
  const apiId = randomUUID();
  const notifier = requestNotifier({
    findMoved: findMovedRequests(db),
    onPollFailure: throttledWarn(log, 'The requests of waiting calls were not read.', now),
    stopping,
    now,
  });
  subscribeNotifications(
    subscriberRedis,
    { prefix: settings.REDIS_PREFIX, secretKey: settings.SECRET_KEY, replyTo: apiId },
    ({ requestId, check }) => notifier.notify(requestId, check),
  );

  // An account can have many keys. Its calls wait for each other, for its counters, and never with all connections.
  const inTurn = keyedSemaphore(Math.floor(settings.DATABASE_CONNECTIONS / 2), { hungAfterMs: HUNG_AFTER_MS });
  const admit = admitRequest(db);
  const record = recordMalformed(db);
  const recordAndPublish: RequestCheckDeps['recordMalformed'] = async (malformed) => {
    const isNew = await inTurn(malformed.request.accountId, () => record(malformed));
    if (isNew) publishChange(malformed.request.accountId, 'checks', publicId('check', malformed.check.id));
    return isNew;
  };
  const accept = acceptRequest(db);
  const acceptAndPublish: RequestCheckDeps['accept'] = async (acceptance) => {
    const { id, accountId } = acceptance;
    const accepted = await accept(acceptance);
    if (accepted.kind === 'accepted') publishChange(accountId, 'requests', publicId('request', id));
    return accepted;
  };

  return {
    deps: {
      findRequest: findRequest(db),
      findCheck: findCheck(db),
      findCheckWithEvidence: findCheckWithEvidence(db),
      listChecks: listChecks(db),
      findUsage: findUsage(db),
      storeAnswer: storeIdempotentAnswer(db),
      requestCheck: requestCheck({
        find: findAwaitedRequest(db),
        accept: acceptAndPublish,
        admit: (admission) => inTurn(admission.request.accountId, () => admit(admission)),
        recordMalformed: recordAndPublish,
        findKey: findIdempotencyKey(db),
        relockKey: relockIdempotencyKey(db),
        hashCheck,
        newSalt,
        policyOf: retryPolicies(settings),
        openSubscription: notifier.subscribe,
        prepareLookup: (request, traceparent) =>
          producer.prepare({
            definition: lookupQueueOf(request),
            payload: {
              ...{ request_id: request.id, reply_to: apiId, reply_with_check: true },
              turn: turnOf(request.accountId, 'interactive'),
              traceparent,
            },
          }),
        demoteLookup: (request) =>
          producer.reclassify(
            lookupQueueOf(request),
            { request_id: request.id, turn: turnOf(request.accountId, 'interactive') },
            'background',
          ),
        onEnqueueFailure: (error) =>
          log.warn('A request was not enqueued; the sweep will enqueue it.', errorFields(error)),
        now,
        stopping,
      }),
    },
    close: notifier.close,
  };
};
