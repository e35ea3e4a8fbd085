import type { FedLine, FeedLane, MemberState } from '@vat/domain';
import type { FeedJob, JobHandler } from '@vat/queues';

export type FeedLaneDeps = {
  /** Fills a member state's window; null while somebody else does. */
  feedLines: (memberState: MemberState, now: Date) => Promise<FedLine[] | null>;
  enqueueLines: (memberState: MemberState, lines: readonly FedLine[]) => Promise<void>;
  recordMalformed: () => Promise<void>;
  now: () => Date;
};

/** Another feed of the same member state is a matter of milliseconds. */
const BUSY_RETRY_MS = 20;

/** Brings lines of batches that wait in a lane on their way: into the queue of their member state, or to their check. */
export const feedLane =
  ({ feedLines, enqueueLines, recordMalformed, now }: FeedLaneDeps): JobHandler<FeedJob> =>
  async ({ lane }: { lane: FeedLane }) => {
    if (lane === 'malformed') {
      await recordMalformed();
      return undefined;
    }
    const lines = await feedLines(lane, now());
    // What it sees may be older than what asked for this feed.
    if (lines === null) return { again: new Date(now().getTime() + BUSY_RETRY_MS) };
    // If this fails they are in the window without a job, until the sweep gives them one.
    await enqueueLines(lane, lines);
    return undefined;
  };

export type FeedHereDeps = Pick<FeedLaneDeps, 'feedLines' | 'enqueueLines' | 'now'> & {
  enqueueFeeds: (lanes: FeedLane[]) => Promise<void>;
};

/** Feeds lanes without a job in between, which costs as much again; what cannot be fed here at this moment gets its job. */
export const feedHere =
  ({ feedLines, enqueueLines, enqueueFeeds, now }: FeedHereDeps) =>
  async (lanes: readonly FeedLane[]): Promise<void> => {
    const feed = async (lane: FeedLane): Promise<void> => {
      const lines = lane === 'malformed' ? null : await feedLines(lane, now());
      if (lane === 'malformed' || lines === null) return enqueueFeeds([lane]);
      // If this fails they are in the window without a job, until the sweep gives them one.
      await enqueueLines(lane, lines);
    };
    await Promise.all(lanes.map(feed));
  };
