import type { FindPendingStamp, PendingStamp, RecordStamp, StampFacts, StampOutcome } from './ports.js';

/** Port: has data stamped by its hash and verifies the answer; rejects where there is no time-stamp. */
export type StampData = (data: Uint8Array, signal?: AbortSignal) => Promise<{ token: Uint8Array } & StampFacts>;

export type MakeStampDeps = {
  findPending: FindPendingStamp;
  stamp: StampData;
  record: RecordStamp;
  /**
   * What a rejection of `stamp` says: that the authority failed, that nobody was asked (`circuit_open`), or `null` for
   * whatever has nothing to do with the authority, which is thrown on.
   */
  reasonOf: (error: unknown) => { error: string; asked: boolean } | null;
  /** From a failed try to the next, in milliseconds; the last one repeats. */
  retryDelaysMs: readonly number[];
  now: () => Date;
};

/** What became of a try. `gone`: there was nothing to stamp (any more). */
export type MadeStamp =
  | { kind: 'stamped'; stamp: PendingStamp }
  | { kind: 'failed'; stamp: PendingStamp; error: string; nextAttemptAt: Date }
  | { kind: 'gone' };

/** While nobody is asked, there is no use in looking more often than this. */
const RESTING_MS = 60_000;

/** Tries once to have a stamp made and records what came of it; twice at once is harmless, one of the two is kept. */
export const makeStamp =
  ({ findPending, stamp: stampData, record, reasonOf, retryDelaysMs, now }: MakeStampDeps) =>
  async (subjectId: string, signal?: AbortSignal): Promise<MadeStamp> => {
    const stamp = await findPending(subjectId);
    if (!stamp) return { kind: 'gone' };
    let outcome: StampOutcome;
    try {
      const { token, ...facts } = await stampData(stamp.data, signal);
      outcome = { kind: 'stamped', token, facts };
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || signal?.aborted) throw error;
      const scheduled = retryDelaysMs[Math.min(stamp.attempts, retryDelaysMs.length - 1)] ?? RESTING_MS;
      const delay = reason.asked ? scheduled : Math.max(scheduled, RESTING_MS);
      const nextAttemptAt = new Date(now().getTime() + delay);
      outcome = { kind: 'failed', error: reason.error, counts: reason.asked, nextAttemptAt };
    }
    if (!(await record(stamp, outcome))) return { kind: 'gone' };
    if (outcome.kind === 'stamped') return { kind: 'stamped', stamp };
    return { kind: 'failed', stamp, error: outcome.error, nextAttemptAt: outcome.nextAttemptAt };
  };
