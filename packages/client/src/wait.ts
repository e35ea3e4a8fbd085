import { ApiError, ConnectionError } from './errors.js';
import { ATTEMPT_MS, type Surroundings } from './send.js';

/** How often a client reads what it waits for, in milliseconds. */
export const POLL_POLICY = { intervalMs: 5_000, leastIntervalMs: 500 } as const;

/** How long a read near the end of a wait may take. */
const LAST_READ_MS = 10_000;

/** What was read. `intervalMs`: when to read again, null when the answer does not say. */
export type Reading<T> = { value: T; ended: boolean; intervalMs: number | null };

/** Whether the same call can succeed later: the service cannot be reached, fails, or is busy. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429));

/** The bounds of one read, so that a service that hangs does not lengthen the wait by minutes. */
type Within = { timeoutMs: number; totalMs: number };

type Wait = {
  waitMs: number;
  /** The first wait. */
  intervalMs: number | null;
  /** Reads before the first wait, too: what is waited for may have ended already. */
  readFirst?: boolean;
  signal?: AbortSignal | undefined;
};

/**
 * Reads until the end of what is waited for, at the interval that the service gave last. The last wait ends after `waitMs`.
 * Resolves to what ended, or to null. A read that fails for a while says nothing, and the wait continues.
 */
export const poll =
  ({ now, sleep }: Pick<Surroundings, 'now' | 'sleep'>) =>
  async <T>(
    { waitMs, intervalMs, readFirst = false, signal }: Wait,
    read: (within: Within) => Promise<Reading<T>>,
  ): Promise<T | null> => {
    const endsAt = now() + waitMs;
    const readOnce = (): Promise<Reading<T> | null> => {
      const within = Math.max(endsAt - now(), LAST_READ_MS);
      return read({ timeoutMs: Math.min(within, ATTEMPT_MS), totalMs: within }).catch((error: unknown) => {
        if (isTemporary(error)) return null;
        throw error;
      });
    };
    const first = readFirst ? await readOnce() : null;
    if (first?.ended) return first.value;
    let interval = intervalMs ?? POLL_POLICY.intervalMs;
    for (;;) {
      const left = endsAt - now();
      if (left <= 0) return null;
      await sleep(Math.min(Math.max(interval, POLL_POLICY.leastIntervalMs), left), signal);
      const reading = await readOnce();
      if (reading?.ended) return reading.value;
      interval = reading?.intervalMs ?? interval;
    }
  };
