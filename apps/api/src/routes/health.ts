import { presentStatus } from '@vat/contracts';
import { type MinuteTally, memberStateHealth, type QueueDepth, STATUS_WINDOW_MS } from '@vat/domain';
import type { Metrics } from '@vat/runtime';
import type { RequestHandler } from 'express';

export type HealthDeps = {
  pingDatabase: () => Promise<void>;
  pingRedis: () => Promise<boolean>;
  stopping: AbortSignal;
  metrics: Metrics;
};

/** Liveness, readiness and metrics. Redis away is reported as degraded and still ready: checks are accepted without it. */
export const healthRoutes = ({ pingDatabase, pingRedis, stopping, metrics }: HealthDeps) => {
  const live: RequestHandler = (_req, res) => {
    res.json({ status: 'ok' });
  };
  const ready: RequestHandler = async (_req, res) => {
    const [postgres, redis] = await Promise.all([
      pingDatabase().then(
        () => 'ok' as const,
        () => 'unreachable' as const,
      ),
      pingRedis().then((answers) => (answers ? ('ok' as const) : ('unreachable' as const))),
    ]);
    const status = stopping.aborted
      ? 'stopping'
      : postgres === 'ok'
        ? redis === 'ok'
          ? 'ok'
          : 'degraded'
        : 'unavailable';
    res.status(status === 'ok' || status === 'degraded' ? 200 : 503).json({ status, postgres, redis });
  };
  const scrape: RequestHandler = async (_req, res) => {
    metrics.degraded.set((await pingRedis()) ? 0 : 1);
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };
  return { live, ready, scrape };
};

export type StatusDeps = {
  readMinutes: (from: Date) => Promise<MinuteTally[]>;
  queueDepths: (now: Date) => Promise<QueueDepth[]>;
  now: () => Date;
};

/** However often it is polled, the database is asked once in this time. */
const REMEMBERED_MS = 2_000;

/** GET /v1/status: what the fleet itself saw of each member state lately. */
export const showStatus = ({ readMinutes, queueDepths, now }: StatusDeps): RequestHandler => {
  let known: { until: number; body: Promise<unknown> } | null = null;

  const read = async (at: Date): Promise<unknown> => {
    const [tallies, depths] = await Promise.all([
      readMinutes(new Date(at.getTime() - STATUS_WINDOW_MS)),
      queueDepths(at),
    ]);
    return presentStatus(memberStateHealth(tallies, depths, at), at);
  };

  return async (_req, res) => {
    const at = now();
    if (known === null || known.until <= at.getTime()) {
      const mine = { until: at.getTime() + REMEMBERED_MS, body: read(at) };
      known = mine;
      // A failure is told to those who wait for it and then forgotten.
      mine.body.catch(() => {
        if (known === mine) known = null;
      });
    }
    res.json(await known.body);
  };
};
