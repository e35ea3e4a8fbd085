import { type ReadinessDeps, readiness } from '@vat/composition';
import type { Metrics } from '@vat/runtime';
import type { RequestHandler } from 'express';

export type HealthDeps = ReadinessDeps & { metrics: Metrics };

/** Liveness, readiness and metrics. Redis away is reported as degraded and still ready: checks are accepted without it. */
export const healthRoutes = ({ metrics, ...deps }: HealthDeps) => {
  const live: RequestHandler = (_req, res) => {
    res.json({ status: 'ok' });
  };
  const readinessNow = readiness(deps);
  const ready: RequestHandler = async (_req, res) => {
    const { ok, ...body } = await readinessNow();
    res.status(ok ? 200 : 503).json(body);
  };
  const scrape: RequestHandler = async (_req, res) => {
    metrics.degraded.set((await deps.pingRedis()) ? 0 : 1);
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };
  return { live, ready, scrape };
};
