import type { Job } from 'bullmq';

/** A job whose handler failed is retried after this; its row shows whether anything is left to do. */
const RETRY_AFTER_ERROR_MS = 1_000;

/**
 * The error is the job's own when other jobs succeed meanwhile. Then its wait doubles each time, up to this. When none succeeds,
 * Postgres is away, for example, and every job continues a second after its return.
 */
const MAX_RETRY_AFTER_ERROR_MS = 300_000;

/** In the data of a job that failed: how often, and when that was counted last. Absent otherwise, and in jobs of older releases. */
export type Failures = { failures?: { count: number; at: number } | undefined };

/** The latest start of a job that was done, in milliseconds. Shared by the consumers of a process. */
export type LastSuccess = { startedAt: number };

/** The wait before the next run of a job that has failed this often, in milliseconds. */
export const retryDelayMs = (failures: number): number =>
  Math.min(MAX_RETRY_AFTER_ERROR_MS, RETRY_AFTER_ERROR_MS * 2 ** (failures - 1));

export type FailureCount = {
  /** Counts a failure of a job and stores the number with it, unless nothing has succeeded since the last one. Returns the number. */
  add: (job: Job<Failures>) => Promise<number>;
  /** Forgets the failures of a job that its handler continues later. */
  reset: (job: Job<Failures>) => Promise<void>;
  /** Call this when a job was done, with its start. */
  noteSuccess: (startedAt: number) => void;
};

/** Counts how often a job failed while others succeeded. */
export const createFailureCount = ({
  now,
  lastSuccess = { startedAt: 0 },
}: {
  now: () => Date;
  lastSuccess?: LastSuccess | undefined;
}): FailureCount => {
  /** Without Redis the number stays as it was; what follows fails, and the job is repeated by another worker. */
  const store = (job: Job<Failures>, failures: Failures['failures']): Promise<void> =>
    job.updateData({ ...job.data, failures }).catch(() => undefined);
  return {
    add: async (job) => {
      const { count, at } = job.data.failures ?? { count: 0, at: 0 };
      const time = now().getTime();
      // A time of the future was noted before the clock was set back. Such a success may be earlier than any failure.
      const hasSucceeded = lastSuccess.startedAt > at && lastSuccess.startedAt <= time;
      if (count > 0 && at <= time && !hasSucceeded) return count;
      await store(job, { count: count + 1, at: time });
      return count + 1;
    },
    reset: async (job) => {
      if (job.data.failures !== undefined) await store(job, undefined);
    },
    noteSuccess: (startedAt) => {
      // The last one is of the future when the clock was set back. Until it had caught up, every failure would seem to be the job's own.
      if (startedAt > lastSuccess.startedAt || lastSuccess.startedAt > now().getTime())
        lastSuccess.startedAt = startedAt;
    },
  };
};
