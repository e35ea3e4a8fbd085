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
