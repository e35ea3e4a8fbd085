import type { DeliveryQueueClass } from './job-catalogue.js';
import type { AcquirePermit, EndpointPermit, PermitUse } from './limit-endpoint-concurrency.js';

type Taken = Extract<EndpointPermit, { kind: 'taken' }>;
/** `takenAt`: milliseconds of the monotonic clock. */
type CachedPermit = { release: Taken['release']; takenAt: number; lastUse: PermitUse; timer?: NodeJS.Timeout };
/** `inUse`: permits that attempts of this process hold now. */
type Endpoint = { inUse: number; contended: boolean; cached: CachedPermit[] };

export type CachePermitsOptions = {
  take: AcquirePermit;
  /** How long an unused permit stays cached. */
  restMs: number;
  /** A permit held for longer is always released: to Redis it looks like one attempt of that duration. */
  maxMs: number;
};

/**
 * Caches a permit briefly after its attempt, so that the next attempt of this process to the same endpoint needs no call to
 * Redis: under load most attempts need none. A permit is cached only while, to the knowledge of this process, no job waits
 * for the endpoint. `close` releases the cached permits; it is called after the last `take`.
 */
export const cachePermits = ({
  take,
  restMs,
  maxMs,
}: CachePermitsOptions): { take: AcquirePermit; close: () => Promise<void> } => {
  const endpoints = new Map<string, Endpoint>();
  const endpointOf = (id: string): Endpoint => {
    const known = endpoints.get(id) ?? { inUse: 0, contended: false, cached: [] };
    endpoints.set(id, known);
    return known;
  };
  const removeIfIdle = (id: string, { inUse, cached }: Endpoint): void => {
    if (inUse === 0 && cached.length === 0) endpoints.delete(id);
  };

  const evict = (id: string, endpoint: Endpoint, permit: CachedPermit): Promise<void> => {
    clearTimeout(permit.timer);
    endpoint.cached = endpoint.cached.filter((other) => other !== permit);
    removeIfIdle(id, endpoint);
    return permit.release(permit.lastUse);
  };

  const use = (id: string, endpoint: Endpoint, { release, takenAt }: Omit<CachedPermit, 'lastUse'>): Taken => {
    endpoint.inUse += 1;
    const end = async (lastUse: PermitUse): Promise<void> => {
      endpoint.inUse -= 1;
      const { durationMs, runsAgain } = lastUse;
      const quick = durationMs !== null && durationMs < maxMs && performance.now() - takenAt < maxMs;
      if (!quick || runsAgain || endpoint.contended) {
        removeIfIdle(id, endpoint);
        return release(lastUse);
      }
      const permit: CachedPermit = { release, takenAt, lastUse };
      permit.timer = setTimeout(() => void evict(id, endpoint, permit), restMs).unref();
      endpoint.cached.push(permit);
    };
    return { kind: 'taken', contended: endpoint.contended, release: end };
  };

  return {
    take: async (id: string, jobId: string, queueClass: DeliveryQueueClass): Promise<EndpointPermit> => {
      const cached = endpoints.get(id)?.cached.pop();
      if (cached) {
        clearTimeout(cached.timer);
        return use(id, endpointOf(id), cached);
      }
      const permit = await take(id, jobId, queueClass);
      if (permit.kind === 'taken') {
        const endpoint = endpointOf(id);
        endpoint.contended = permit.contended;
        return use(id, endpoint, { release: permit.release, takenAt: performance.now() });
      }
      const known = endpoints.get(id);
      if (known) {
        known.contended = true;
        // Permits cached while `take` ran are released now. That signals this job, once its caller has suspended it.
        for (const idle of known.cached) void evict(id, known, idle);
      }
      return permit;
    },
    close: async () => {
      const all = [...endpoints].flatMap(([id, endpoint]) =>
        endpoint.cached.map((permit) => evict(id, endpoint, permit)),
      );
      await Promise.all(all);
    },
  };
};
