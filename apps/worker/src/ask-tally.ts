import { type AskEnd, bucketOf, DURATION_BOUNDS_MS, type MemberState, type MinuteTally } from '@vat/domain';

export type AskTally = {
  note: (memberState: MemberState, end: AskEnd, durationMs: number) => void;
  /** Writes what was counted since the last time; what cannot be written is counted again next time. */
  flush: () => Promise<void>;
};

/**
 * Counts asks in memory and hands them on by the minute: what the status page shows is worth no write an ask. What a
 * worker that dies had not handed on yet is lost, and nothing depends on it.
 */
export const askTally = (record: (tallies: MinuteTally[]) => Promise<void>, now: () => Date): AskTally => {
  let counted = new Map<string, MinuteTally>();

  const add = (tally: MinuteTally): void => {
    const key = `${tally.memberState} ${tally.minute.getTime()} ${tally.end}`;
    const known = counted.get(key);
    if (!known) return void counted.set(key, tally);
    known.asks += tally.asks;
    for (const [n, count] of tally.buckets.entries()) known.buckets[n] = (known.buckets[n] ?? 0) + count;
  };

  return {
    note: (memberState, end, durationMs) => {
      const minute = new Date(Math.floor(now().getTime() / 60_000) * 60_000);
      const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
      buckets[bucketOf(durationMs)] = 1;
      add({ memberState, minute, end, asks: 1, buckets });
    },
    flush: async () => {
      const tallies = [...counted.values()];
      counted = new Map();
      try {
        await record(tallies);
      } catch (error) {
        for (const tally of tallies) add(tally);
        throw error;
      }
    },
  };
};
