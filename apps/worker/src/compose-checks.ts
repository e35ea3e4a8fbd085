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
import { type LookupNoAnswer, type MemberState, TEST_POLICY, userAgentOf } from '@vat/domain';
import { createEnrichmentSources, readSourceUrls } from '@vat/enrichment';
import {
  type JobHandler,
  type PriorityClass,
  type RequestJob,
  sandboxQueue,
  settleQueue,
  upstreamQueue,
} from '@vat/queues';
import { errorFields, type Stoppable, throttledLog, throttledWarn } from '@vat/runtime';
import { createViesClient } from '@vat/vies';
import type { Recording } from './compose-recording.js';
import { performLookup } from './processors/perform-lookup.js';
import { settleCheck } from './processors/settle-check.js';
import { createRecordings, persistAnswer } from './recordings.js';
import { enrichmentOf, livePolicyOf, statesOf } from './settings.js';
import { createPacing, lookUpInSandbox, lookUpInVies, upstreamStatistics } from './upstreams.js';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** How often what was counted goes to the status page. */
const TALLY_EVERY_MS = 5_000;

const enrichmentSources = ({ settings, db, now }: WorkerContext) =>
  createEnrichmentSources({
    enabled: enrichmentOf(settings),
    urls: readSourceUrls(settings),
    timeoutMs: settings.ENRICHMENT_TIMEOUT,
    userAgent: userAgentOf(settings.CONTACT_URL),
    budget: searchBudget(db),
    dailySearches: settings.ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES,
    now,
  });

/** Serves the asks of this process's member states, the sandbox, and the recording of answers. */
export const composeChecks = (
  foundation: WorkerContext,
  recording: Recording,
  abortLookups: AbortSignal,
): Stoppable[] => {
  const { record, hint, tell, feed, progress } = recording;
  const { advanced } = progress;
  const { settings, log, now, metrics, db, producer, publishChange, serve } = foundation;
  const warn = (message: string) => throttledWarn(log, message, REPEAT_WARNING_MS, now);
  const slots = memberStateSlots(settings.DATABASE_URL, warn('The slot connection broke; open asks end.'));
  const vies = createViesClient({
    baseUrl: settings.VIES_URL,
    attemptTimeoutMs: settings.UPSTREAM_ATTEMPT_TIMEOUT,
    userAgent: userAgentOf(settings.CONTACT_URL),
  });
  const enrichment = enrichmentSources(foundation);
  const { sources } = enrichment;

  const find = findRequest(db);
  const recordings = createRecordings((error) =>
    log.warn('An answer was not stored; the sweep asks again.', errorFields(error)),
  );
  const enqueueSettle = (job: RequestJob, priority: PriorityClass) =>
    producer
      .enqueue({ definition: settleQueue, payload: job, priority })
      .catch((error: unknown) => log.warn('A settlement was not enqueued; the sweep will.', errorFields(error)));

  const tally = upstreamStatistics(recordMinutes(db), now);
  const flushTally = () =>
    tally.flush().catch((error: unknown) => log.debug('The status figures wait.', errorFields(error)));
  const tallying = setInterval(() => void flushTally(), TALLY_EVERY_MS);

  const pacing = createPacing(now);
  /** By code, so that what one customer's number causes does not hide what concerns all of them. */
  const alarms = new Map<string | null, ReturnType<typeof throttledLog>>();
  const alarm = (memberState: MemberState, { outcome, code }: LookupNoAnswer): void => {
    metrics.upstreamAlarms.inc({ code: code ?? outcome });
    const message =
      outcome === 'blocked' ? 'The upstream blocks us.' : 'The upstream rejects our requests as incomplete.';
    const report = alarms.get(code) ?? throttledLog((fields) => log.error(message, fields), REPEAT_WARNING_MS, now);
    alarms.set(code, report);
    report({ member_state: memberState, code });
  };
  const livePolicy = livePolicyOf(settings);
  const lookingUp = (memberState: MemberState | null): JobHandler<RequestJob> =>
    performLookup({
      memberState,
      takeSlot: slots.take,
      pacing,
      tally,
      alarm,
      beginLookup: beginLookup(db),
      markLookupStarted: markLookupStarted(db),
      findRequest: find,
      ask: memberState === null ? lookUpInSandbox(now) : lookUpInVies(vies.ask),
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
      feedAt: (state, at) =>
        feed([state], at).catch((error: unknown) => log.debug('A feed waits for the sweep.', errorFields(error))),
      enqueueDelivery: tell,
      publishChange,
      hint,
      policyOf: (test) => (test ? TEST_POLICY : livePolicy),
      abortLookups,
      now,
      log,
      metrics,
    });

  for (const memberState of statesOf(settings)) serve(upstreamQueue(memberState), lookingUp(memberState));
  serve(sandboxQueue, lookingUp(null));
  serve(settleQueue, settleCheck({ findRequest: find, sources, recordCheck: record }));

  return [
    { name: 'slots', stop: slots.close },
    {
      name: 'outgoing connections',
      stop: async () => {
        await vies.close();
        enrichment.close();
      },
    },
    {
      name: 'status figures',
      stop: async () => {
        clearInterval(tallying);
        await flushTally();
      },
    },
    { name: 'recordings', stop: recordings.drain },
  ];
};
