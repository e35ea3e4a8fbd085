import type { DispatchedLine, DispatchQueue, MemberState } from '@vat/domain';
import type { DispatchJob, JobHandler } from '@vat/queues';

type DispatchLinesDeps = {
  /** Fills a member state's window; null while somebody else does. */
  dispatchLines: (memberState: MemberState, now: Date) => Promise<DispatchedLine[] | null>;
  enqueueLines: (memberState: MemberState, lines: readonly DispatchedLine[]) => Promise<void>;
  recordMalformed: () => Promise<void>;
  now: () => Date;
};

/** Another feed of the same member state is a matter of milliseconds. */
const BUSY_RETRY_MS = 20;

/** Brings lines of batches that wait in a lane on their way: into the queue of their member state, or to their check. */
export const dispatchQueueLines =
  ({ dispatchLines, enqueueLines, recordMalformed, now }: DispatchLinesDeps): JobHandler<DispatchJob> =>
  async ({ lane }: { lane: DispatchQueue }) => {
    if (lane === 'malformed') {
      await recordMalformed();
      return undefined;
    }
    const lines = await dispatchLines(lane, now());
    // What it sees may be older than what asked for this feed.
    if (lines === null) return { again: new Date(now().getTime() + BUSY_RETRY_MS) };
    // If this fails they are in the window without a job, until the sweep gives them one.
    await enqueueLines(lane, lines);
    return undefined;
  };

type DispatchLocallyDeps = Pick<DispatchLinesDeps, 'dispatchLines' | 'enqueueLines' | 'now'> & {
  enqueueDispatches: (lanes: DispatchQueue[]) => Promise<void>;
};

/** Feeds lanes without a job in between, which costs as much again; what cannot be fed here at this moment gets its job. */
export const dispatchLocally =
  ({ dispatchLines, enqueueLines, enqueueDispatches, now }: DispatchLocallyDeps) =>
  async (lanes: readonly DispatchQueue[]): Promise<void> => {
    const feed = async (lane: DispatchQueue): Promise<void> => {
      const lines = lane === 'malformed' ? null : await dispatchLines(lane, now());
      if (lane === 'malformed' || lines === null) return enqueueDispatches([lane]);
      // If this fails they are in the window without a job, until the sweep gives them one.
      await enqueueLines(lane, lines);
    };
    await Promise.all(lanes.map(feed));
  };
