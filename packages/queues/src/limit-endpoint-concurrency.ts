import type { Redis } from 'ioredis';
import { prepareScript, type RunScript } from './connect-redis.js';
import { ACQUIRE_SCRIPT, RELEASE_SCRIPT, SUSPEND_SCRIPT } from './endpoint-scripts.js';
import type { DeliveryQueueClass } from './job-catalogue.js';

export type EndpointConcurrencyOptions = {
  connection: Redis;
  prefix: string;
  /** Maximum attempts in flight to one endpoint, over all workers. */
  share: number;
  /** The maximum while the endpoint is slow. */
  slowShare: number;
  /** An endpoint is slow when its responses take longer than this on average, or one attempt is in flight for longer. */
  slowAfterMs: number;
  /** A permit that is not released (its worker died) expires after this; longer than any attempt. */
  holdMs: number;
  /** Runs a suspended job now. When it fails, the job runs at its due time. */
  promote: (queueClass: DeliveryQueueClass, jobId: string) => Promise<void>;
};

/** How a permit was used. `durationMs`: how long the receiver took, null without a POST. `runsAgain`: the job runs again at once. */
export type PermitUse = { durationMs: number | null; runsAgain: boolean };

/**
 * `taken`: the caller holds a permit. It must await `release`, which never rejects, so that the next job is signalled before
 * this process may end. `contended`: other jobs wait for the endpoint.
 * `full`: the caller delays the job by `waitMs` and then suspends it; it is signalled when a permit is free.
 * `slow`: only the retry queue serves the endpoint until it responds quickly again.
 */
export type EndpointPermit =
  | { kind: 'taken'; contended: boolean; release: (use: PermitUse) => Promise<void> }
  | { kind: 'full'; waitMs: number; suspend: () => Promise<void> }
  | { kind: 'slow' };

/** Acquires a permit of an endpoint for a job of a queue class. Throws while Redis is unavailable. */
export type AcquirePermit = (
  endpoint: string,
  jobId: string,
  queueClass: DeliveryQueueClass,
) => Promise<EndpointPermit>;

/** The reply of {@link ACQUIRE_SCRIPT}. */
type AcquireReply = [kind: number, waitMsOrWaiting: number, signalled: string[]];

const QUEUE_CLASSES: readonly DeliveryQueueClass[] = ['first', 'retry'];

/**
 * Limits the attempts in flight per endpoint, over all workers, so that an endpoint that hangs occupies only its own
 * permits. Unlike the slots of member states this is fairness and not a guarantee, so its state may be lost with Redis.
 *
 * A job without a permit is suspended and costs nothing until a permit is free and it is signalled, the oldest job first.
 * Signals can be lost: a suspended job also runs after its wait, and the first one that does signals the others again.
 */
export const limitEndpointConcurrency = (options: EndpointConcurrencyOptions): AcquirePermit => {
  const { connection, prefix, share, slowShare, slowAfterMs, holdMs, promote } = options;
  const limits = [share, slowShare, slowAfterMs, holdMs].map(String);
  const run = {
    acquire: prepareScript(connection, ACQUIRE_SCRIPT),
    suspend: prepareScript(connection, SUSPEND_SCRIPT),
    release: prepareScript(connection, RELEASE_SCRIPT),
  } satisfies Record<string, RunScript>;

  const signal = async (members: readonly string[]): Promise<void> => {
    await Promise.all(
      members.map(async (member) => {
        const [jobId = '', name] = member.split('|');
        const queueClass = QUEUE_CLASSES.find((known) => known === name);
        // A failure means that the job is not suspended any more, or that Redis is unavailable: then it runs after its wait.
        if (queueClass) await promote(queueClass, jobId).catch(() => undefined);
      }),
    );
  };

  return async (endpoint, jobId, queueClass) => {
    const tag = `${prefix}:{endpoint-${endpoint}}`;
    const keys = [`${tag}:flights`, `${tag}:pace`, `${tag}:suspended`, `${tag}:called`];
    const member = `${jobId}|${queueClass}`;
    const reply = (await run.acquire(keys, [...limits, jobId, member, queueClass])) as AcquireReply;
    const [kind, waitMsOrWaiting, signalled] = reply;
    if (signalled.length > 0) await signal(signalled);
    if (kind === 2) return { kind: 'slow' };
    if (kind === 0) {
      const suspend = async () => signal((await run.suspend(keys, [...limits, jobId, member])) as string[]);
      return { kind: 'full', waitMs: waitMsOrWaiting, suspend };
    }
    const release = async ({ durationMs, runsAgain }: PermitUse): Promise<void> => {
      const use = [durationMs === null ? '' : String(durationMs), runsAgain ? 'yes' : 'no'];
      // A permit that cannot be released expires.
      await run.release(keys, [...limits, jobId, member, ...use]).then(
        (next) => signal(next as string[]),
        () => undefined,
      );
    };
    return { kind: 'taken', contended: waitMsOrWaiting > 0, release };
  };
};
