import { retryPolicies } from '@vat/composition';
import {
  beginLookup,
  endRequest,
  findRequest,
  markLookupStarted,
  memberStateSlots,
  recordMinutes,
  searchBudget,
  storeLookup,
} from '@vat/db';
import {
  type CheckRequest,
  type LookupNoAnswer,
  type MemberState,
  performLookup,
  persistAnswer,
  publicId,
  type RequestRef,
  settleCheck,
  userAgentOf,
} from '@vat/domain';
import { createEnrichmentSources, readSourceUrls } from '@vat/enrichment';
import { createLookupGates, fleetPace, perMemberState, priorityClassOf, settleQueue } from '@vat/queues';
import { errorFields, type Stoppable, throttledLog, throttledWarn, traceFields } from '@vat/runtime';
import { createViesClient } from '@vat/vies';
import type { Recording } from './compose-recording.js';
import { lookUpWithinSlot, observeOutcome, performLookupJob } from './processors/perform-lookup.js';
import { jobOfRequest, settleCheckJob } from './processors/settle-check.js';
import { createRecordings } from './recordings.js';
import { enrichmentOf, slotsUrlOf, statesOf } from './settings.js';
import { traceLookups, traceRegisters } from './trace-calls.js';
import { createPacing, lookUpInSandbox, lookUpInVies, upstreamStatistics } from './upstreams.js';
import type { WorkerContext } from './worker-context.js';

/** How often the upstream statistics are written for the status page. */
const STATISTICS_INTERVAL_MS = 5_000;

const enrichmentSources = ({ settings, db, producerRedis, now }: WorkerContext) =>
  createEnrichmentSources({
    enabled: enrichmentOf(settings),
    urls: readSourceUrls(settings),
    timeoutMs: settings.ENRICHMENT_TIMEOUT,
    userAgent: userAgentOf(settings.CONTACT_URL),
    proxyUrl: settings.EGRESS_PROXY,
    budget: searchBudget(db),
    reserveCall: fleetPace(producerRedis, settings.REDIS_PREFIX, settings.ENRICHMENT_TIMEOUT),
    dailySearches: settings.ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES,
    now,
  });

/** Reports outcomes that an operator must act on: at once, then repeated at intervals. */
const createAlarm = ({ log, metrics, now }: WorkerContext) => {
  /** One throttle a code: what one customer's number causes must not hide what concerns all of them. */
  const reports = new Map<string | null, ReturnType<typeof throttledLog>>();
  return (memberState: MemberState, { outcome, code }: LookupNoAnswer): void => {
    metrics.upstreamAlarms.inc({ code: code ?? outcome });
    const message =
      outcome === 'blocked' ? 'The upstream blocks us.' : 'The upstream rejects our requests as incomplete.';
    const report = reports.get(code) ?? throttledLog((fields) => log.error(message, fields), now);
    reports.set(code, report);
    report({ member_state: memberState, code });
  };
};

/** The lookups of this process's member states, the sandbox, and the recording of answers. */
export const composeChecks = (
  context: WorkerContext,
  { record, notifyCaller, sendDelivery, dispatchByJob, progress }: Recording,
  abortLookups: AbortSignal,
) => {
  const { advanced } = progress;
  const { settings, log, now, metrics, db, producer, publishChange, tracing } = context;
  const warn = (message: string) => throttledWarn(log, message, now);
  const slots = memberStateSlots({
    url: slotsUrlOf(settings),
    lookupMs: settings.UPSTREAM_ATTEMPT_TIMEOUT,
    onError: warn('The slot connection broke; open lookups end.'),
  });
  const vies = createViesClient({
    baseUrl: settings.VIES_URL,
    attemptTimeoutMs: settings.UPSTREAM_ATTEMPT_TIMEOUT,
    userAgent: userAgentOf(settings.CONTACT_URL),
    proxyUrl: settings.EGRESS_PROXY,
    now,
  });
  const enrichment = enrichmentSources(context);
  const { sources } = enrichment;

  const find = findRequest(db);
  const recordings = createRecordings((error, request) =>
    log.warn('An answer was not stored; the sweep will repeat the lookup.', {
      request: publicId('request', request),
      ...errorFields(error),
    }),
  );
  const enqueueSettle = (ref: RequestRef, { origin, state }: CheckRequest) =>
    producer
      .enqueue({
        definition: settleQueue,
        payload: jobOfRequest(ref),
        priority: priorityClassOf({ origin, pending: state === 'pending' }),
      })
      .catch((error: unknown) =>
        log.warn('A settlement was not enqueued; the sweep will enqueue it.', {
          request: publicId('request', ref.requestId),
          ...traceFields(ref.traceparent),
          ...errorFields(error),
        }),
      );

  const statistics = upstreamStatistics(recordMinutes(db), now);
  const flushStatistics = () =>
    statistics
      .flush()
      .catch((error: unknown) =>
        log.debug('The upstream statistics were not written; will retry.', errorFields(error)),
      );
  const flushing = setInterval(() => void flushStatistics(), STATISTICS_INTERVAL_MS);

  const pacing = createPacing();
  const gates = createLookupGates({
    connection: context.producerRedis,
    prefix: settings.REDIS_PREFIX,
    probeDelaysMs: settings.PROBE_DELAYS,
    now,
    onChange: (memberState, down) =>
      log.warn(down ? 'A member state is down and is probed.' : 'A member state answers again.', {
        member_state: memberState,
      }),
  });
  const onOutcome = observeOutcome({ pacing, statistics, alarm: createAlarm(context), metrics });
  const policyOf = retryPolicies(settings);
  const lookupHandler = (memberState: MemberState | null) => {
    const lookUp = lookUpWithinSlot({
      lookUp: memberState === null ? lookUpInSandbox(now) : lookUpInVies(vies.lookUp),
      markLookupStarted: markLookupStarted(db),
      abortLookups,
    });
    return performLookupJob(
      performLookup({
        memberState,
        holdMs: pacing.holdMs,
        gates,
        takeSlot: slots.take,
        beginLookup: beginLookup(db),
        find,
        lookUp: tracing ? traceLookups(tracing, lookUp) : lookUp,
        storeLookup: storeLookup(db),
        persistAnswer: persistAnswer({
          sources,
          storeLookup: storeLookup(db),
          recordCheck: record,
          enqueueSettle,
          advanced,
        }),
        recordings,
        endRequest: endRequest(db),
        enqueueSettle,
        advanced,
        dispatchAt: (state, at) =>
          dispatchByJob([state], at).catch((error: unknown) =>
            log.debug('A dispatch was not enqueued; the sweep will enqueue it.', errorFields(error)),
          ),
        enqueueDelivery: sendDelivery,
        publishChange,
        notifyCaller,
        policyOf,
        onSlotWait: (state, waitMs) => metrics.slotWaits.observe({ member_state: state }, waitMs / 1_000),
        onOutcome,
        onAbandoned: ({ requestId, traceparent }, reason) => {
          if (reason === 'NEVER_ASKED') context.alarmNeverAsked(1);
          log.info('A request ended without a check.', {
            request: publicId('request', requestId),
            reason,
            ...traceFields(traceparent),
          });
        },
        now,
      }),
    );
  };

  const states = statesOf(settings);
  const settle = settleCheck({
    find,
    sources,
    recordCheck: tracing ? traceRegisters(tracing, record) : record,
    timeout: (ms) => AbortSignal.timeout(ms),
  });
  const parts: Stoppable[] = [
    { name: 'slots', stop: slots.close },
    {
      name: 'outgoing connections',
      stop: async () => {
        await vies.close();
        enrichment.close();
      },
    },
    {
      name: 'upstream statistics',
      stop: async () => {
        clearInterval(flushing);
        await flushStatistics();
      },
    },
    { name: 'recordings', stop: recordings.drain },
  ];
  return {
    lookups: perMemberState((memberState) => (states.includes(memberState) ? lookupHandler(memberState) : null)),
    sandbox: lookupHandler(null),
    settle: settleCheckJob(settle),
    parts,
  };
};
