import { AppError } from '@vat/domain';
import { CallerGone } from './http/connection.js';

/** Runs work of the same key in turn, in the order it came, and of different keys side by side. */
export type InTurn = <T>(key: string, work: () => Promise<T>, gone?: AbortSignal) => Promise<T>;

/** What ends the wait for a turn before it comes. */
export type TurnLimits = {
  /**
   * Work that fails after so many milliseconds has hung, and everybody who waits behind it fails with it: each would hang
   * as long, one after the other. A refusal is no failure.
   */
  hungAfterMs?: number;
  /** So many of a key may wait; `refuse` makes what a further one is told. */
  waiting?: { most: number; refuse: () => AppError };
};

type Waiting = { enter: () => void; fail: (error: unknown) => void };
type Place = { taken: number; waiting: Set<Waiting> };

const waitForPlace = ({ waiting }: Place, gone: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      gone?.removeEventListener('abort', leave);
      waiting.delete(mine);
    };
    const mine: Waiting = {
      enter: () => {
        stop();
        resolve();
      },
      fail: (error) => {
        stop();
        reject(error);
      },
    };
    const leave = (): void => mine.fail(new CallerGone());
    waiting.add(mine);
    gone?.addEventListener('abort', leave);
  });

/**
 * Runs at most `most` pieces of work of the same key side by side. A caller that leaves while it waits (`gone`) loses its
 * turn: its promise rejects with {@link CallerGone}.
 */
export const keyedSemaphore = (
  most: number,
  { hungAfterMs = Number.POSITIVE_INFINITY, waiting }: TurnLimits = {},
): InTurn => {
  const places = new Map<string, Place>();
  return async (key, work, gone) => {
    if (gone?.aborted) throw new CallerGone();
    const place = places.get(key) ?? { taken: 0, waiting: new Set() };
    places.set(key, place);
    if (place.taken < most) place.taken += 1;
    else if (waiting && place.waiting.size >= waiting.most) throw waiting.refuse();
    // Whoever leaves hands the place over, so that nobody who comes in between can take it.
    else await waitForPlace(place, gone);
    const begunAt = performance.now();
    try {
      return await work();
    } catch (error) {
      const isFailure = !(error instanceof AppError || error instanceof CallerGone);
      const hasHung = isFailure && performance.now() - begunAt >= hungAfterMs;
      if (hasHung) for (const { fail } of [...place.waiting]) fail(error);
      throw error;
    } finally {
      const [next] = place.waiting;
      if (next) next.enter();
      else {
        place.taken -= 1;
        if (place.taken === 0) places.delete(key);
      }
    }
  };
};

/**
 * Runs work of the same key one after the other. What would only wait for the same row lock waits here instead, where it
 * holds no database connection: when an outage ends many windows of one account at once, the calls of all others still
 * find a free one.
 */
export const keyedMutex = (limits?: TurnLimits): InTurn => keyedSemaphore(1, limits);

type TurnsByKeyOptions = {
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
