import { publicId } from '../ids.js';
import type { PublishChange } from '../page-update.js';
import type { MadeStamp, MakeStampDeps } from './timestamp.js';

type AttemptStampDeps = {
  makeStamp: (subjectId: string, signal: AbortSignal) => Promise<MadeStamp>;
  reasonOf: MakeStampDeps['reasonOf'];
  publishChange: PublishChange;
  /** Called for every attempt that was recorded. */
  onAttempted: (made: Exclude<MadeStamp, { kind: 'gone' }>, durationMs: number) => void;
  now: () => Date;
};

/** Makes one attempt at a time-stamp. Returns when the next one is due; null when none is. */
export const attemptStamp =
  ({ makeStamp, reasonOf, publishChange, onAttempted, now }: AttemptStampDeps) =>
  async (subjectId: string, abort: AbortSignal): Promise<Date | null> => {
    const startedAt = now().getTime();
    let made: MadeStamp;
    try {
      made = await makeStamp(subjectId, abort);
    } catch (error) {
      // This process aborted the request, which does not count as an attempt.
      if (abort.aborted && reasonOf(error) !== null) return now();
      throw error;
    }
    if (made.kind === 'gone') return null;
    onAttempted(made, now().getTime() - startedAt);
    if (made.kind === 'failed') return made.nextAttemptAt;
    if (made.stamp.accountId !== null) publishChange(made.stamp.accountId, 'checks', publicId('check', subjectId));
    return null;
  };

/** What a recomputation found. `leftOff`: differences beyond those listed. `whole`: whether everything was read. */
type Recomputation = { differences: readonly unknown[]; leftOff: number; whole: boolean };

type RecomputeAnchorsDeps<Report extends Recomputation> = {
  verify: (signal: AbortSignal) => Promise<Report>;
  onDifference: (difference: Report['differences'][number]) => void;
  /** Called when everything was read. `found`: the number of differences. */
  onRecomputed: (report: Report, found: number, durationMs: number) => void;
  now: () => Date;
};

/** After a stop another worker starts over, once the consumers of this one have ended. */
const RESTART_DELAY_MS = 5_000;

/**
 * Recomputes all anchors and reports every difference: recorded data was changed, or storage is damaged. Returns when it is
 * to be repeated because it was stopped; null when it is done, and when this process is making one.
 */
export const recomputeAnchors = <Report extends Recomputation>({
  verify,
  onDifference,
  onRecomputed,
  now,
}: RecomputeAnchorsDeps<Report>) => {
  let isRunning = false;
  const recompute = async (stopping: AbortSignal): Promise<Date | null> => {
    const startedAt = now().getTime();
    const report = await verify(stopping);
    for (const difference of report.differences) onDifference(difference);
    if (!report.whole) return new Date(now().getTime() + RESTART_DELAY_MS);
    onRecomputed(report, report.differences.length + report.leftOff, now().getTime() - startedAt);
    return null;
  };
  return async (stopping: AbortSignal): Promise<Date | null> => {
    // One that takes longer than its interval. With the next ones beside it, no place would be left for time-stamps and anchors.
    if (isRunning) return null;
    isRunning = true;
    try {
      return await recompute(stopping);
    } finally {
      isRunning = false;
    }
  };
};
