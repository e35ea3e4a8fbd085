/** Between two tries to record an attempt. */
const RETRY_MS = 500;

/**
 * Records an attempt, again while that fails and no other process can claim it: what was sent must not be sent again because
 * Postgres was away for seconds afterwards.
 */
export const recordWithinLease = async <T>(
  record: () => Promise<T>,
  leasedUntil: Date,
  { pause, now }: { pause: (ms: number) => Promise<void>; now: () => Date },
): Promise<T> => {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      if (now().getTime() + RETRY_MS >= leasedUntil.getTime()) throw error;
      await pause(RETRY_MS);
    }
  }
};
