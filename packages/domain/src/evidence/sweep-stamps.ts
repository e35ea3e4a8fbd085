import type { DueStamp, StampCursor } from './ports.js';

export type SweepStampsDeps = {
  /** Pending stamps due before a moment, oldest first, a slice at a time. */
  due: (before: Date, after: StampCursor | null, limit: number) => Promise<DueStamp[]>;
  /** Gives each its job; a job that is still there is left alone. */
  enqueue: (stamps: DueStamp[]) => Promise<void>;
  now: () => Date;
};

/** A job that is this late is taken to be lost; adding one that is not changes nothing. */
const GRACE_MS = 5_000;
/** Later than any try is due. */
const EVER = new Date('9000-01-01T00:00:00.000Z');
const SLICE = 500;

/**
 * The safety net under time-stamps: those that are overdue get their job (again). With `everything`, also the ones that are
 * due only later: after a loss of Redis.
 */
export const sweepStamps =
  ({ due, enqueue, now }: SweepStampsDeps) =>
  async ({ everything }: { everything: boolean }): Promise<{ stamps: number }> => {
    const before = everything ? EVER : new Date(now().getTime() - GRACE_MS);
    let stamps = 0;
    for (let after: StampCursor | null = null; ; ) {
      const slice: DueStamp[] = await due(before, after, SLICE);
      if (slice.length > 0) await enqueue(slice);
      stamps += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return { stamps };
      after = last;
    }
  };
