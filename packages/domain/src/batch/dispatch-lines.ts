import { MEMBER_STATES, type MemberState } from '../member-states.js';
import type { DispatchQueue } from './batch.js';

/** Every queue in which lines of batches wait. */
export const DISPATCH_QUEUES = [...MEMBER_STATES, 'malformed'] as const satisfies readonly DispatchQueue[];

/**
 * How many requests of batches a member state has in Redis, over all accounts; the others wait as rows. Small, because lines
 * in Redis are looked up before those of an account that uploads later.
 */
export const LINES_IN_WINDOW = 12;

/** A window is refilled when at most this many are left: enough for both slots until the next lines arrive. */
export const REFILL_AT = 6;

/** Answered lines whose national source is slow do not count as waiting for a slot, up to this many in all. */
export const MAX_DISPATCHED = 48;

/** A request of a batch to be enqueued. `rank`: its position among its account's, from 1; lower ranks go first. */
export type DispatchedLine = { id: string; accountId: string; rank: number };

type DispatchLinesDeps = {
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

type DispatchLocallyDeps = DispatchLinesDeps & {
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
