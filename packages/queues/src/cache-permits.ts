import type { DeliveryQueueClass } from './job-catalogue.js';
import type { AcquirePermit, EndpointPermit, PermitUse } from './limit-endpoint-concurrency.js';

type Taken = Extract<EndpointPermit, { kind: 'taken' }>;
/** `takenAt`: milliseconds of the steady clock. */
type CachedPermit = { release: Taken['release']; takenAt: number; lastUse: PermitUse; timer?: NodeJS.Timeout };
type Endpoint = { out: number; contended: boolean; resting: CachedPermit[] };

export type CachePermitsOptions = {
  take: AcquirePermit;
  /** So long a place stays in its process unused. */
  restMs: number;
  /** After this it is given back in any case: to Redis it looks like one attempt that has taken all that time. */
  maxMs: number;
};

/**
 * Keeps a place for a moment after its attempt, so that the next attempt to the same endpoint by this process need not ask
 * Redis: under load that is most of them. Only while nobody waits for the endpoint, as far as this process knows. `close`
 * gives back what rests, once no more is taken.
 */
export const cachePermits = ({
  take,
  restMs,
  maxMs,
}: CachePermitsOptions): { take: AcquirePermit; close: () => Promise<void> } => {
  const endpoints = new Map<string, Endpoint>();
  const endpointOf = (id: string): Endpoint => {
    const known = endpoints.get(id) ?? { out: 0, contended: false, resting: [] };
    endpoints.set(id, known);
    return known;
  };
  const forget = (id: string, { out, resting }: Endpoint): void => {
    if (out === 0 && resting.length === 0) endpoints.delete(id);
  };

  const giveBack = (id: string, endpoint: Endpoint, place: CachedPermit): Promise<void> => {
    clearTimeout(place.timer);
    endpoint.resting = endpoint.resting.filter((other) => other !== place);
    forget(id, endpoint);
    return place.release(place.lastUse);
  };

  const use = (id: string, endpoint: Endpoint, { release, takenAt }: Omit<CachedPermit, 'lastUse'>): Taken => {
    endpoint.out += 1;
    const end = async (lastUse: PermitUse): Promise<void> => {
      endpoint.out -= 1;
      const { durationMs, comesBack } = lastUse;
      const quick = durationMs !== null && durationMs < maxMs && performance.now() - takenAt < maxMs;
      if (!quick || comesBack || endpoint.contended) {
        forget(id, endpoint);
        return release(lastUse);
      }
      const place: CachedPermit = { release, takenAt, lastUse };
      place.timer = setTimeout(() => void giveBack(id, endpoint, place), restMs).unref();
      endpoint.resting.push(place);
    };
    return { kind: 'taken', contended: endpoint.contended, release: end };
  };

  return {
    take: async (id: string, jobId: string, lane: DeliveryQueueClass): Promise<EndpointPermit> => {
      const rested = endpoints.get(id)?.resting.pop();
      if (rested) {
        clearTimeout(rested.timer);
        return use(id, endpointOf(id), rested);
      }
      const place = await take(id, jobId, lane);
      if (place.kind === 'taken') {
        const endpoint = endpointOf(id);
        endpoint.contended = place.contended;
        return use(id, endpoint, { release: place.release, takenAt: performance.now() });
      }
      const known = endpoints.get(id);
      if (known) {
        known.contended = true;
        // One came to rest while this one asked: it is called by its being given back, once it has lain down.
        for (const resting of known.resting) void giveBack(id, known, resting);
      }
      return place;
    },
    close: async () => {
      const all = [...endpoints].flatMap(([id, endpoint]) =>
        endpoint.resting.map((place) => giveBack(id, endpoint, place)),
      );
      await Promise.all(all);
    },
  };
};
