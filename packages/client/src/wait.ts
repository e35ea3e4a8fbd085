import type { Surroundings } from './send.js';

/** How often a client reads what it waits for, in milliseconds. */
export const POLL_POLICY = { intervalMs: 5_000, leastIntervalMs: 500 } as const;

/** What was read. `intervalMs`: when to read again, null when the answer does not say. */
export type Reading<T> = { value: T; ended: boolean; intervalMs: number | null };

type Wait = { waitMs: number; intervalMs: number | null; signal?: AbortSignal | undefined };

/**
 * Reads until the end of what is waited for, at the interval that the service gave last. The last wait ends after `waitMs`.
 * Resolves to what ended, or to null.
 */
export const poll =
  ({ now, sleep }: Pick<Surroundings, 'now' | 'sleep'>) =>
  async <T>({ waitMs, intervalMs, signal }: Wait, read: () => Promise<Reading<T>>): Promise<T | null> => {
    const endsAt = now() + waitMs;
    let interval = intervalMs ?? POLL_POLICY.intervalMs;
    for (;;) {
      const left = endsAt - now();
      if (left <= 0) return null;
      await sleep(Math.min(Math.max(interval, POLL_POLICY.leastIntervalMs), left), signal);
      const reading = await read();
      if (reading.ended) return reading.value;
      interval = reading.intervalMs ?? interval;
    }
  };
