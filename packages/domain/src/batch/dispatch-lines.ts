import type { MemberState } from '../member-states.js';
import type { DispatchQueue } from './batch.js';
import type { DispatchedLine } from './feed.js';

export type DispatchLinesDeps = {
  /** Fills the window of a member state; null while another process does. */
  dispatchLines: (memberState: MemberState, now: Date) => Promise<DispatchedLine[] | null>;
  /** If it fails, the lines are in the window without a job until the sweep gives them one. */
  enqueueLines: (memberState: MemberState, lines: readonly DispatchedLine[]) => Promise<void>;
  now: () => Date;
};

/** Another dispatch of the same member state takes milliseconds. */
const BUSY_RETRY_MS = 20;

/**
 * Moves waiting lines of a member state into its queue. Returns when to try again while another process dispatches: that
 * process may have read the lines before this dispatch was requested.
 */
export const dispatchMemberState =
  ({ dispatchLines, enqueueLines, now }: DispatchLinesDeps) =>
  async (memberState: MemberState): Promise<{ retryAt: Date } | null> => {
    const lines = await dispatchLines(memberState, now());
    if (lines === null) return { retryAt: new Date(now().getTime() + BUSY_RETRY_MS) };
    await enqueueLines(memberState, lines);
    return null;
  };

export type DispatchLocallyDeps = DispatchLinesDeps & {
  enqueueDispatches: (queues: DispatchQueue[]) => Promise<void>;
};

/** Dispatches without a job in between, which saves the cost of the job. What cannot be dispatched now gets its job. */
export const dispatchLocally = (deps: DispatchLocallyDeps) => {
  const dispatch = dispatchMemberState(deps);
  return async (queues: readonly DispatchQueue[]): Promise<void> => {
    const dispatchOne = async (queue: DispatchQueue): Promise<void> => {
      if (queue === 'malformed' || (await dispatch(queue)) !== null) await deps.enqueueDispatches([queue]);
    };
    await Promise.all(queues.map(dispatchOne));
  };
};
