import type { FeedLane } from '@vat/domain';
import type { FeedLaneDeps } from './feed-lane.js';

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
