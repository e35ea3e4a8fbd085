import {
  COUNTED_WAITING,
  HISTORY_PERIOD_MS,
  type HistoryEntry,
  MEMBER_STATES,
  type MemberStateHealth,
  STATUS_WINDOW_MS,
  type WaitClass,
} from '@vat/domain';
import { z } from 'zod';
import { periodFilters } from './lists.js';
import { count, instant } from './text.js';

const share = () => z.number().min(0).max(1).nullable();

const waitMs = (what: string) => z.int().min(0).nullable().describe(what);

/** GET /v1/status. Shares and percentiles are null without recent lookups. */
export const statusSchema = z
  .strictObject({
    generated_at: instant(),
    window_seconds: z.int().describe('The period of the figures.'),
    member_states: z.array(
      z.strictObject({
        member_state: z.enum(MEMBER_STATES),
        health: z
          .enum(['ok', 'degraded', 'down', 'unknown'])
          .describe(
            'ok: at least nine of ten lookups were answered. degraded: fewer, or nearly all were refused as too many. down: five in a row were not answered, and the member state is only probed now, or nearly none was answered. unknown: there were no lookups.',
          ),
        asks: z.int().min(0),
        answered: share(),
        saturated: share(),
        unavailable: share(),
        p50_ms: z.int().min(0).nullable(),
        p95_ms: z.int().min(0).nullable(),
        queue_depth: z
          .int()
          .min(0)
          .describe(`Requests that are due and not answered yet, counted up to ${COUNTED_WAITING} of each class.`),
        oldest_wait_ms: z
          .int()
          .min(0)
          .nullable()
          .describe('How long the oldest of them waits, and of lines of batches.'),
        oldest_waits_ms: z
          .strictObject({
            interactive: waitMs('Calls whose callers wait.'),
            background: waitMs('Calls that were answered 202.'),
            batch: waitMs('Lines of batches.'),
            watch: waitMs('Runs of watches.'),
          } satisfies Record<WaitClass, unknown>)
          .describe('The same by class.'),
      }),
    ),
  })
  .meta({ id: 'Status', description: 'The recent availability of each member state, as observed by this service.' });

/** GET /v1/status. */
export const presentStatus = (states: readonly MemberStateHealth[], at: Date): z.input<typeof statusSchema> => ({
  generated_at: at.toISOString(),
  window_seconds: STATUS_WINDOW_MS / 1_000,
  member_states: states.map((state) => ({
    member_state: state.memberState,
    health: state.health,
    asks: state.lookups,
    answered: state.answered,
    saturated: state.saturated,
    unavailable: state.unavailable,
    p50_ms: state.p50Ms,
    p95_ms: state.p95Ms,
    queue_depth: state.queueDepth,
    oldest_wait_ms: state.oldestWaitMs,
    oldest_waits_ms: state.oldestWaitsMs,
  })),
});

const historyEntrySchema = z
  .strictObject({
    hour: instant().describe('The beginning of the hour, in UTC.'),
    member_state: z.enum(MEMBER_STATES),
    asked: count('Lookups of the hour: answered + saturated + unavailable.'),
    answered: count('Lookups that the member state answered, valid or not.'),
    saturated: count('Lookups that were refused because of too many requests.'),
    unavailable: count('Lookups without an answer for any other reason.'),
    p50_ms: z.int().min(0).nullable(),
    p95_ms: z.int().min(0).nullable(),
  })
  .meta({ id: 'StatusHour', description: 'The lookups of one member state within one hour.' });

const DAYS = HISTORY_PERIOD_MS.max / 86_400_000;
/** A call without `to` takes a moment to arrive, and the caller's clock may differ. */
const GRACE_MS = 60_000;
const isTooLong = (from: Date, to: Date | undefined): boolean =>
  (to?.getTime() ?? Date.now() - GRACE_MS) - from.getTime() > HISTORY_PERIOD_MS.max;

/** Query of GET /v1/status/history. */
export const statusHistoryQuery = z
  .strictObject({
    member_state: z.enum(MEMBER_STATES).optional().describe('Only this member state.'),
    ...periodFilters,
  })
  .refine(({ from, to }) => !from || !isTooLong(from, to), {
    path: ['from'],
    message: `must be at most ${DAYS} days before to, or before now without to`,
  });

/** GET /v1/status/history. */
export const statusHistorySchema = z.strictObject({
  from: instant(),
  to: instant(),
  data: z.array(historyEntrySchema).describe('Oldest first. Hours without a lookup are omitted.'),
});

/** An entry of GET /v1/status/history. */
export const presentHistoryEntry = (entry: HistoryEntry): z.input<typeof historyEntrySchema> => ({
  hour: entry.hour.toISOString(),
  member_state: entry.memberState,
  asked: entry.lookups,
  answered: entry.answered,
  saturated: entry.saturated,
  unavailable: entry.unavailable,
  p50_ms: entry.p50Ms,
  p95_ms: entry.p95Ms,
});

/** GET /v1/status/history. */
export const presentHistory = (
  period: { from: Date; to: Date },
  data: z.input<typeof historyEntrySchema>[],
): z.input<typeof statusHistorySchema> => ({
  from: period.from.toISOString(),
  to: period.to.toISOString(),
  data,
});

/** GET /status.json: the member states now and in the last 30 days. */
export const publicStatusSchema = statusSchema.extend({ history: statusHistorySchema });
