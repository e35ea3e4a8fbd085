import { MEMBER_STATES, type MemberStateHealth, STATUS_WINDOW_MS } from '@vat/domain';
import { z } from 'zod';
import { instant } from './text.js';

const share = () => z.number().min(0).max(1).nullable();

/** GET /v1/status. Shares and percentiles are null without recent lookups. */
export const statusSchema = z
  .strictObject({
    generated_at: instant(),
    window_seconds: z.int().describe('The period of the figures.'),
    member_states: z.array(
      z.strictObject({
        member_state: z.enum(MEMBER_STATES),
        health: z.enum(['ok', 'degraded', 'down', 'unknown']),
        asks: z.int().min(0),
        answered: share(),
        saturated: share(),
        unavailable: share(),
        p50_ms: z.int().min(0).nullable(),
        p95_ms: z.int().min(0).nullable(),
        queue_depth: z.int().min(0).describe('Requests that are due and not answered yet.'),
        oldest_wait_ms: z.int().min(0).nullable(),
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
  })),
});
