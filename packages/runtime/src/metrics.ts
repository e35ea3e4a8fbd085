import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';

/**
 * What alerts compare with zero, by label. Prometheus sees no increase in a series that begins with its first count, and no value where
 * there is no series.
 */
const FROM_THE_START = {
  code: ['VAT_BLOCKED', 'IP_BLOCKED', 'VOW-ERR-11', 'NEVER_ASKED'],
  outcome: ['sent', 'pending', 'failed'],
} as const;

export const createMetrics = (service: string) => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <Label extends string>(of: CounterConfiguration<Label>) => new Counter({ ...of, registers });
  const gauge = <Label extends string>(of: GaugeConfiguration<Label>) => new Gauge({ ...of, registers });
  const histogram = <Label extends string>(of: HistogramConfiguration<Label>) => new Histogram({ ...of, registers });
  const metrics = {
    registry,
    httpRequests: histogram({
      name: 'vat_http_request_seconds',
      help: 'Duration of HTTP requests by route, method and status; 499: the caller left before the answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 48],
    }),
    lookups: histogram({
      name: 'vat_upstream_ask_seconds',
      help: 'Duration of upstream lookups by member state and outcome.',
      labelNames: ['member_state', 'outcome'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
    }),
    upstreamAlarms: counter({
      name: 'vat_upstream_alarms_total',
      help: 'What an operator must act on, by code: upstream responses that block this service or report its requests as incomplete; NEVER_ASKED counts requests that ended without a lookup.',
      labelNames: ['code'],
    }),
    slotWaits: histogram({
      name: 'vat_slot_wait_seconds',
      help: 'Time from the due time of a lookup until it has a slot.',
      labelNames: ['member_state'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 20, 60, 600],
    }),
    oldestWaits: gauge({
      name: 'vat_oldest_wait_seconds',
      help: 'How long the oldest due request has waited for a lookup, over all workers: by queue (upstream: it has a job; batches: a line that is not dispatched yet), class and member state. Absent where nothing waits.',
      labelNames: ['queue', 'class', 'member_state'],
    }),
    deliveryAttempts: histogram({
      name: 'vat_webhook_attempt_seconds',
      help: 'Duration of delivery attempts by queue class and by the outcome for the delivery.',
      labelNames: ['lane', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    deliveryWaits: histogram({
      name: 'vat_webhook_wait_seconds',
      help: 'Time from the due time of a delivery attempt until it is made.',
      labelNames: ['lane'],
      buckets: [0.005, 0.015, 0.05, 0.1, 0.5, 1, 5, 20, 60, 600],
    }),
    jobErrors: counter({
      name: 'vat_job_errors_total',
      help: 'Jobs whose handler failed.',
      labelNames: ['queue'],
    }),
    swept: counter({
      name: 'vat_swept_total',
      help: 'Rows on which the sweep acted, by action.',
      labelNames: ['action'],
    }),
    watchRuns: counter({
      name: 'vat_watch_runs_total',
      help: 'Due watches by the outcome of their run: started, or put off.',
      labelNames: ['outcome'],
    }),
    rateLimitAlone: counter({
      name: 'vat_rate_limit_alone_total',
      help: 'Times this process fell back to its local rate limit because Redis was unavailable or slow.',
    }),
    closedConnections: counter({
      name: 'vat_connections_closed_total',
      help: 'Connections that the API closed to protect itself, by reason: pipelined, stalled, unread, idle, refused.',
      labelNames: ['reason'],
    }),
    usageDifferences: gauge({
      name: 'vat_usage_differences',
      help: 'Accounts whose usage counters differ from the rows they count; any value but 0 is a fault.',
    }),
    evidenceAge: gauge({
      name: 'vat_evidence_waiting_seconds',
      help: 'Age of the oldest check without an anchor, and of the oldest pending time-stamp, by kind.',
      labelNames: ['what'],
    }),
    stampsPending: gauge({
      name: 'vat_stamps_pending',
      help: 'Pending time-stamps by the kind of their subject.',
      labelNames: ['kind'],
    }),
    stampTries: histogram({
      name: 'vat_stamp_seconds',
      help: 'Duration of attempts to obtain a time-stamp, by outcome.',
      labelNames: ['outcome'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    mails: counter({
      name: 'vat_mails_total',
      help: 'Attempts to send e-mail by outcome: sent, pending (it will be tried again), failed (given up).',
      labelNames: ['outcome'],
    }),
    anchorDifferences: gauge({
      name: 'vat_anchor_differences',
      help: 'Differences that the last recomputation of all anchors found; any value but 0 is a fault.',
    }),
    anchorsRecomputed: gauge({
      name: 'vat_anchors_recomputed_timestamp_seconds',
      help: 'When this process last recomputed all anchors, in seconds since 1970; 0 if it has not.',
    }),
    serves: gauge({
      name: 'vat_worker_serves',
      help: '1 for what this worker serves (WORKER_QUEUES), 0 for what it leaves to others.',
      labelNames: ['role'],
    }),
    degraded: gauge({
      name: 'vat_redis_away',
      help: '1 while this process cannot reach Redis.',
    }),
  };
  for (const code of FROM_THE_START.code) metrics.upstreamAlarms.inc({ code }, 0);
  for (const outcome of FROM_THE_START.outcome) metrics.mails.inc({ outcome }, 0);
  return metrics;
};

export type Metrics = ReturnType<typeof createMetrics>;
