import { usageSchema } from './account.js';
import { BATCH_OPERATIONS } from './batch-operations.js';
import { CHECK_OPERATIONS } from './check-operations.js';
import { COVERAGE_OPERATIONS } from './coverage-operations.js';
import { EVENT_OPERATIONS } from './event-operations.js';
import { EVIDENCE_OPERATIONS } from './evidence-operations.js';
import { type Operation, ok } from './operation.js';
import { statusHistoryQuery, statusHistorySchema, statusSchema } from './status.js';
import { WATCH_OPERATIONS } from './watch-operations.js';
import { WEBHOOK_OPERATIONS } from './webhook-operations.js';

const HISTORY = {
  from: '2026-11-19T10:00:00.000Z',
  to: '2026-11-20T10:00:00.000Z',
  data: [
    {
      hour: '2026-11-19T10:00:00.000Z',
      member_state: 'DE',
      asked: 812,
      answered: 640,
      saturated: 160,
      unavailable: 12,
      p50_ms: 300,
      p95_ms: 2_250,
    },
  ],
};

/** Every operation of the API by its `operationId`, in the order of the documentation. */
export const OPERATIONS = {
  ...CHECK_OPERATIONS,
  ...EVIDENCE_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...COVERAGE_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...EVENT_OPERATIONS,
  getUsage: {
    method: 'get',
    path: '/v1/usage',
    tag: 'Account',
    summary: 'Get the usage of the current month',
    success: ok('The usage of the current UTC month.', usageSchema, {
      period: '2026-11',
      plan: 'business',
      limit: 20_000,
      used: 1_204,
      reserved: 3,
      reset_at: '2026-12-01T00:00:00.000Z',
    }),
  },
  getStatus: {
    method: 'get',
    path: '/v1/status',
    tag: 'Service',
    summary: 'Get the recent availability of each member state',
    success: ok('One entry for each member state.', statusSchema, {
      generated_at: '2026-11-20T10:00:00.000Z',
      window_seconds: 900,
      member_states: [
        {
          member_state: 'DE',
          health: 'degraded',
          asks: 220,
          answered: 0.71,
          saturated: 0.27,
          unavailable: 0.02,
          p50_ms: 410,
          p95_ms: 2_300,
          queue_depth: 4,
          oldest_wait_ms: 1_850,
          oldest_waits_ms: { interactive: 1_850, background: null, batch: null, watch: null },
        },
      ],
    }),
  },
  getStatusHistory: {
    method: 'get',
    path: '/v1/status/history',
    tag: 'Service',
    summary: 'Get the availability of the member states by the hour',
    description:
      'Returns the lookups of this service by hour and member state. The period is at most 31 days, and the last 24 hours by default; hours are stored for 400 days.',
    query: statusHistoryQuery,
    success: ok('The hours of the period.', statusHistorySchema, HISTORY),
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;
