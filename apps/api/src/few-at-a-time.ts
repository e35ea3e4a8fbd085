import { AppError } from '@vat/domain';
import { CallerGone } from './http/caller-gone.js';

/** Runs work of the same key in turn, in the order it came, and of different keys side by side. */
export type InTurn = <T>(key: string, work: () => Promise<T>, gone?: AbortSignal) => Promise<T>;

/** How long a turn is waited for. */
export type TurnLimits = {
  /**
   * Whoever has waited for so long, in milliseconds, while nothing of its key came to an end, good or a refusal, gives up:
   * what is ahead hangs, and each that waits would hang as long after it.
   */
  patienceMs?: number;
  /** So many of a key may wait; `refuse` makes what a further one is told. */
  waiting?: { most: number; refuse: () => AppError };
};

type Place = { taken: number; waiting: Set<() => void>; movedAt: number };

const waitForPlace = (place: Place, patienceMs: number, gone: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      clearTimeout(timer);
      gone?.removeEventListener('abort', leave);
      place.waiting.delete(enter);
    };
    const enter = (): void => {
      stop();
      resolve();
    };
    const leave = (): void => {
      stop();
      reject(new CallerGone());
    };
    const judge = (): void => {
      const rest = Math.max(since, place.movedAt) + patienceMs - performance.now();
      if (rest > 0) {
        timer = setTimeout(judge, Math.ceil(rest));
        return;
      }
      stop();
      reject(new Error('what was ahead of this call does not end'));
    };
    place.waiting.add(enter);
    gone?.addEventListener('abort', leave);
    if (patienceMs < Number.POSITIVE_INFINITY) judge();
  });

/**
 * Runs at most `most` pieces of work of the same key side by side. A caller that leaves while it waits (`gone`) loses its
 * turn: its promise rejects with {@link CallerGone}.
 */
export const fewAtATime = (
  most: number,
  { patienceMs = Number.POSITIVE_INFINITY, waiting }: TurnLimits = {},
): InTurn => {
  const places = new Map<string, Place>();
  return async (key, work, gone) => {
    if (gone?.aborted) throw new CallerGone();
    const place = places.get(key) ?? { taken: 0, waiting: new Set(), movedAt: 0 };
    places.set(key, place);
    if (place.taken < most) place.taken += 1;
    else if (waiting && place.waiting.size >= waiting.most) throw waiting.refuse();
    // Whoever leaves hands the place over, so that nobody who comes in between can take it.
    else await waitForPlace(place, patienceMs, gone);
    let hasEnded = true;
    try {
      return await work();
    } catch (error) {
      hasEnded = error instanceof AppError;
      throw error;
    } finally {
      if (hasEnded) place.movedAt = performance.now();
      const [next] = place.waiting;
      if (next) next();
      else {
        place.taken -= 1;
        if (place.taken === 0) places.delete(key);
      }
    }
  };
};
