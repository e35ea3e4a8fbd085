import type { Redis } from 'ioredis';
import { prepareScript, type RunScript } from './connect-redis.js';
import { ACQUIRE_SCRIPT, RELEASE_SCRIPT, SUSPEND_SCRIPT } from './endpoint-scripts.js';
import type { DeliveryQueueClass } from './job-catalogue.js';

export type EndpointConcurrencyOptions = {
  connection: Redis;
  prefix: string;
  /** Attempts of one endpoint that may be in flight at once, over all workers. */
  share: number;
  /** The same while the endpoint is slow. */
  slowShare: number;
  /** An endpoint is slow when its answers take this long on average, or one has been outstanding for this long. */
  slowAfterMs: number;
  /** A place that is not given back (its worker died) is free again after this; longer than any attempt. */
  holdMs: number;
  /** Lets a suspended job run now. Where it fails the job comes by itself, later. */
  wake: (lane: DeliveryQueueClass, jobId: string) => Promise<void>;
};

/** How a place was used: how long the receiver took, null when it was not asked; whether the same job comes back at once. */
export type PermitUse = { durationMs: number | null; comesBack: boolean };

/**
 * `taken`: give it back, and wait for that, so that whoever is next is called before this process may end; never rejects.
 * `contended`: others wait for the endpoint.
 * `full`: put the job off by `waitMs`, then suspend it: it is woken when its turn comes. `slow`: not in this lane: the
 * endpoint belongs to the retries until it answers quickly again.
 */
export type EndpointPermit =
  | { kind: 'taken'; contended: boolean; release: (use: PermitUse) => Promise<void> }
  | { kind: 'full'; waitMs: number; suspend: () => Promise<void> }
  | { kind: 'slow' };

/** Takes a place among the attempts in flight of an endpoint, for a job of a lane. Throws while Redis is away. */
export type AcquirePermit = (endpoint: string, jobId: string, lane: DeliveryQueueClass) => Promise<EndpointPermit>;

/** What became of it, how long to wait or how many do, and jobs to wake. */
type TakeReply = [kind: number, figure: number, called: string[]];

const LANES: readonly DeliveryQueueClass[] = ['first', 'retry'];

/**
 * Shares the workers among endpoints: one that hangs holds its few places and nothing else, over the whole fleet. Unlike
 * the slots of member states this is fairness, no promise to anybody, so it may live in Redis and be lost with it.
 *
 * A job without a place sleeps, and costs nothing until a place comes free and it is called: the oldest first. Jobs come
 * by themselves as well, late: calls can be lost, and the first that comes calls the others again.
 */
export const limitEndpointConcurrency = (options: EndpointConcurrencyOptions): AcquirePermit => {
  const { connection, prefix, share, slowShare, slowAfterMs, holdMs, wake } = options;
  const limits = [share, slowShare, slowAfterMs, holdMs].map(String);
  const run = {
    take: prepareScript(connection, ACQUIRE_SCRIPT),
    suspend: prepareScript(connection, SUSPEND_SCRIPT),
    release: prepareScript(connection, RELEASE_SCRIPT),
  } satisfies Record<string, RunScript>;

  const call = async (members: readonly string[]): Promise<void> => {
    await Promise.all(
      members.map(async (member) => {
        const [jobId = '', lane] = member.split('|');
        const known = LANES.find((name) => name === lane);
        // Not asleep any more, or Redis went away: then it comes by itself.
        if (known) await wake(known, jobId).catch(() => undefined);
      }),
    );
  };

  return async (endpoint, jobId, lane) => {
    const tag = `${prefix}:{endpoint-${endpoint}}`;
    const keys = [`${tag}:flights`, `${tag}:pace`, `${tag}:suspended`, `${tag}:called`];
    const member = `${jobId}|${lane}`;
    const [kind, figure, called] = (await run.take(keys, [...limits, jobId, member, lane])) as TakeReply;
    if (called.length > 0) await call(called);
    if (kind === 2) return { kind: 'slow' };
    if (kind === 0) {
      const suspend = async () => call((await run.suspend(keys, [...limits, jobId, member])) as string[]);
      return { kind: 'full', waitMs: figure, suspend };
    }
    const release = async ({ durationMs, comesBack }: PermitUse): Promise<void> => {
      const use = [durationMs === null ? '' : String(durationMs), comesBack ? 'yes' : 'no'];
      // What is not given back runs out by itself.
      await run.release(keys, [...limits, jobId, member, ...use]).then(
        (next) => call(next as string[]),
        () => undefined,
      );
    };
    return { kind: 'taken', contended: figure > 0, release };
  };
};
