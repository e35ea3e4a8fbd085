import type { AppError } from '@vat/domain';
import type { InTurn } from './few-at-a-time.js';
import { CallerGone } from './http/caller-gone.js';

export type TurnsByKeyOptions = {
  /** Pieces of work that run side by side, of all keys together. */
  atOnce: number;
  /** Pieces of work that may wait, of all keys together; `refuse` makes the error of a further one. */
  waiting: { max: number; refuse: () => AppError };
};

/**
 * Runs at most `atOnce` pieces of work in all. Those that wait are taken in turn by key, however many one key has waiting, and
 * of one key in the order they came. A caller that leaves while it waits (`gone`) loses its turn: its promise rejects with
 * {@link CallerGone}.
 */
export const turnsByKey = ({ atOnce, waiting: { max, refuse } }: TurnsByKeyOptions): InTurn => {
  let running = 0;
  let waitingInAll = 0;
  /** The first key is the next to have a turn; it then goes to the end. */
  const waiting = new Map<string, Set<() => void>>();

  const startNext = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    const [key, starts] = next;
    const [start] = starts;
    waiting.delete(key);
    if (starts.size > 1) waiting.set(key, starts);
    start?.();
  };

  const waitForTurn = (key: string, gone: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const starts = waiting.get(key) ?? new Set();
      const leaveQueue = (): void => {
        starts.delete(start);
        waitingInAll -= 1;
        gone?.removeEventListener('abort', leave);
      };
      const start = (): void => {
        leaveQueue();
        resolve();
      };
      const leave = (): void => {
        leaveQueue();
        if (starts.size === 0) waiting.delete(key);
        reject(new CallerGone());
      };
      starts.add(start);
      waiting.set(key, starts);
      waitingInAll += 1;
      gone?.addEventListener('abort', leave);
    });

  return async (key, work, gone) => {
    if (gone?.aborted) throw new CallerGone();
    if (running < atOnce) running += 1;
    else if (waitingInAll >= max) throw refuse();
    // Work that ends hands its place over, so that nobody who comes in between can take it.
    else await waitForTurn(key, gone);
    try {
      return await work();
    } finally {
      startNext();
    }
  };
};
