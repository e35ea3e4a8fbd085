import { MEMBER_STATES } from '@vat/domain';
import { z } from 'zod';
import { instant } from './instant.js';

const share = () => z.number().min(0).max(1).nullable();

/** GET /v1/status. Shares and percentiles are null where nothing was asked lately. */
export const statusSchema = z
  .strictObject({
    generated_at: instant(),
    window_seconds: z.int().describe('How far back the figures go.'),
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
        queue_depth: z.int().min(0).describe('Requests that are due and have no answer yet.'),
        oldest_wait_ms: z.int().min(0).nullable(),
      }),
    ),
  })
  .meta({ id: 'Status', description: 'What this service itself saw of each member state lately.' });
