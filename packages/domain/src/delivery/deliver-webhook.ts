import { publicId } from '../ids.js';
import type { PublishChange } from '../page-update.js';
import { recordWithinLease } from '../record-within-lease.js';
import { type DeliveryPlan, type DueDelivery, type LoggedAttempt, planDelivery } from './delivery.js';

/** The attempt that a job makes. Ids are UUIDs; `number` counts from 1. `traceparent`: the span of the job. */
export type DeliveryAttempt = {
  deliveryId: string;
  accountId: string;
  number: number;
  traceparent?: string | undefined;
};

/** An attempt to claim until `leasedUntil`. */
export type AttemptToClaim = Omit<DeliveryAttempt, 'accountId' | 'traceparent'> & { now: Date; leasedUntil: Date };

/** The current endpoint of a delivery. `secretSealed`: the encrypted signing secret. */
type DeliveryEndpoint = { url: string; secretSealed: Uint8Array };

/** A claimed attempt with the current endpoint; `endpoint` is null when it was removed. */
type ClaimedAttempt = {
  eventId: string;
  eventType: string;
  body: string;
  dueAt: Date;
  endpoint: DeliveryEndpoint | null;
};

/**
 * `not_yet`: the attempt is due, or its lease ends, at `at`. `settled`: the attempt was made, or the delivery has ended.
 * `held`: its account is disabled; the sweep enqueues it again when the account is enabled.
 */
export type Claim =
  | { kind: 'claimed'; attempt: ClaimedAttempt }
  | { kind: 'not_yet'; at: Date }
  | { kind: 'settled' }
  | { kind: 'held' };

/** `leasedUntil`: as claimed. */
export type AttemptToRecord = { deliveryId: string; attempt: LoggedAttempt; plan: DeliveryPlan; leasedUntil: Date };

export type AttemptToSend = Omit<ClaimedAttempt, 'dueAt' | 'endpoint'> & {
  accountId: string;
  deliveryId: string;
  endpoint: DeliveryEndpoint;
};

/** What was sent. `aborted`: by this service, before the receiver answered. */
export type SentAttempt = { attempt: Omit<LoggedAttempt, 'number' | 'url'>; succeeded: boolean; aborted: boolean };

/**
 * The right to one attempt to an endpoint at a time. `release` takes how long the receiver took, null when nothing counted
 * as sent. `full`: none is free now, and `waiting` deliveries of the endpoint were refused, this one included. `slow`: the
 * endpoint is served among the retries.
 */
export type DeliveryPermit =
  | { kind: 'taken'; release: (durationMs: number | null) => Promise<void> }
  | { kind: 'full'; waiting: number }
  | { kind: 'slow' };

export type DeliverWebhookDeps = {
  acquirePermit: (attempt: DeliveryAttempt) => Promise<DeliveryPermit>;
  claim: (attempt: AttemptToClaim) => Promise<Claim>;
  /** Releases a claim whose attempt does not count. */
  release: (claimed: Omit<AttemptToClaim, 'now'>) => Promise<void>;
  /** False when the attempt was recorded already. */
  record: (attempt: AttemptToRecord) => Promise<boolean>;
  endRemoved: (now: Date, deliveryIds: readonly string[]) => Promise<number>;
  /** Signs and sends; never rejects. Null when this process cannot read the secret: nothing was sent. */
  send: (attempt: AttemptToSend) => Promise<SentAttempt | null>;
  enqueue: (delivery: DueDelivery) => Promise<void>;
  moveToRetries: (attempt: DeliveryAttempt) => Promise<void>;
  publishChange: PublishChange;
  /** Called with the time that a claimed attempt waited. */
  onClaimed: (waitedMs: number) => void;
  onAttempted: (attempt: DeliveryAttempt, logged: LoggedAttempt, outcome: 'retry' | 'successful' | 'failed') => void;
  /** Called when a retry was not enqueued; the sweep finds it. */
  onEnqueueFailure: (error: unknown) => void;
  retryDelaysMs: readonly number[];
  /** How long a claim lasts: longer than an attempt can take, by the time in which its result may be recorded. */
  leaseMs: number;
  pause: (ms: number) => Promise<void>;
  /** Between 0 and 1. */
  random: () => number;
  now: () => Date;
};

/** The first wait for a permit, and how it grows with each further one: thousands of jobs of a dead endpoint cost little. */
const PERMIT_WAIT_MS = 1_000;
const PERMIT_WAIT_GROWTH = 1.5;
const MAX_PERMIT_WAIT_MS = 60_000;

/**
 * The wait for each job that waits for the same endpoint. A released permit promotes a job before that, so the wait only matters
 * when a promotion was lost. Without this, a burst of thousands to one endpoint runs each job ten times.
 */
const PERMIT_WAIT_PER_JOB_MS = 50;

/**
 * The wait of a job that has been started `runs` times, while `waiting` jobs wait for permits of its endpoint. Scattered so that
 * jobs refused together do not return together.
 */
export const permitWaitMs = ({ runs, waiting, random }: { runs: number; waiting: number; random: number }): number => {
  const waitMs = Math.max(PERMIT_WAIT_MS * PERMIT_WAIT_GROWTH ** (runs - 1), waiting * PERMIT_WAIT_PER_JOB_MS);
  return Math.min(MAX_PERMIT_WAIT_MS, waitMs) * (0.5 + random / 2);
};

/** As {@link permitWaitMs}, of a delivery whose secret this process cannot read; another process may be able to. */
const UNREADABLE_WAIT_MS = 5_000;
const UNREADABLE_WAIT_GROWTH = 2;
const MAX_UNREADABLE_WAIT_MS = 300_000;

const unreadableWaitMs = ({ runs, random }: { runs: number; random: number }): number =>
  Math.min(MAX_UNREADABLE_WAIT_MS, UNREADABLE_WAIT_MS * UNREADABLE_WAIT_GROWTH ** (runs - 1)) * (0.5 + random / 2);

/**
 * Makes one attempt of a delivery with the current URL and secret of its endpoint and the stored bytes of the event, and
 * records it with the next state of the delivery. `runs`: how often its job has been started. Returns when the job runs
 * again; null when it is done.
 */
export const deliverWebhook = (deps: DeliverWebhookDeps) => {
  const { now } = deps;

  const publish = ({ accountId, deliveryId }: DeliveryAttempt): void =>
    deps.publishChange(accountId, 'deliveries', publicId('delivery', deliveryId));

  const settle = async (
    job: DeliveryAttempt,
    { logged, succeeded, leasedUntil }: { logged: LoggedAttempt; succeeded: boolean; leasedUntil: Date },
  ): Promise<void> => {
    const { deliveryId, accountId, number, traceparent } = job;
    const plan = planDelivery({ number, succeeded, endedAt: now() }, deps.retryDelaysMs);
    const toRecord = { deliveryId, attempt: logged, plan, leasedUntil };
    const recorded = await recordWithinLease(() => deps.record(toRecord), leasedUntil, deps);
    deps.onAttempted(job, logged, plan.state === 'pending' ? 'retry' : plan.state);
    if (!recorded) return;
    publish(job);
    if (plan.nextAttemptAt === null) return;
    await deps
      .enqueue({ id: deliveryId, accountId, attempt: number + 1, dueAt: plan.nextAttemptAt, traceparent })
      .catch(deps.onEnqueueFailure);
  };

  const attempt = async (
    job: DeliveryAttempt,
    runs: number,
  ): Promise<{ again: Date | null; durationMs: number | null }> => {
    const { deliveryId, accountId, number } = job;
    const at = now();
    const leasedUntil = new Date(at.getTime() + deps.leaseMs);
    const claim = await deps.claim({ deliveryId, number, now: at, leasedUntil });
    if (claim.kind === 'not_yet') return { again: claim.at, durationMs: null };
    // Held: the job ends, and the sweep enqueues another one once the account is enabled.
    if (claim.kind !== 'claimed') return { again: null, durationMs: null };
    const { endpoint, dueAt, ...event } = claim.attempt;
    if (endpoint === null) {
      if ((await deps.endRemoved(at, [deliveryId])) > 0) publish(job);
      return { again: null, durationMs: null };
    }
    deps.onClaimed(Math.max(0, at.getTime() - dueAt.getTime()));
    const sent = await deps.send({ ...event, accountId, deliveryId, endpoint });
    if (sent === null) {
      // The operator's mistake, such as a wrong key, must not use up the attempts of the receiver.
      await deps.release({ deliveryId, number, leasedUntil });
      return { again: new Date(now().getTime() + unreadableWaitMs({ runs, random: deps.random() })), durationMs: null };
    }
    if (sent.aborted && !sent.succeeded) {
      await deps.release({ deliveryId, number, leasedUntil });
      return { again: now(), durationMs: null };
    }
    const logged = { ...sent.attempt, number, url: endpoint.url };
    await settle(job, { logged, succeeded: sent.succeeded, leasedUntil });
    return { again: null, durationMs: sent.attempt.durationMs };
  };

  return async (job: DeliveryAttempt, runs: number): Promise<Date | null> => {
    const permit = await deps.acquirePermit(job);
    if (permit.kind === 'full') {
      const { waiting } = permit;
      return new Date(now().getTime() + permitWaitMs({ runs, waiting, random: deps.random() }));
    }
    if (permit.kind === 'slow') {
      await deps.moveToRetries(job);
      return null;
    }
    // A job that throws runs again a second later; its permit is free until then.
    let durationMs: number | null = null;
    try {
      const made = await attempt(job, runs);
      durationMs = made.durationMs;
      return made.again;
    } finally {
      await permit.release(durationMs);
    }
  };
};
