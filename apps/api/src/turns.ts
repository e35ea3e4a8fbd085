import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@vat/domain';
import { CallerGone } from './http/connection.js';

/** Runs work of the same key in turn, in the order of arrival, and work of different keys concurrently. */
export type InTurn = <T>(key: string, work: () => Promise<T>, gone?: AbortSignal) => Promise<T>;

/** Conditions under which work fails before its turn. */
export type TurnLimits = {
  /**
   * Work that fails after this many milliseconds has timed out, and everything that waits behind it fails with the same error.
   * Otherwise each would time out in turn. An AppError is not a failure in this sense.
   */
  hungAfterMs?: number;
  /** How many pieces of work of one key may wait; `refuse` creates the error of a further one. */
  waiting?: { most: number; refuse: () => AppError };
};

/** Work that waits for its turn. Either function ends its waiting. */
export type Waiter = { start: () => void; fail: (error: unknown) => void };

/**
 * Waits until the waiter that `enter` queues is started. Rejects when it fails, and with {@link CallerGone} when `gone` aborts.
 * `enter` returns what removes the waiter from its queue, and starts or fails nothing itself.
 */
export const waitForTurn = (gone: AbortSignal | undefined, enter: (waiter: Waiter) => () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const leaving = (settle: () => void): void => {
      gone?.removeEventListener('abort', abandon);
      leave();
      settle();
    };
    const waiter: Waiter = { start: () => leaving(resolve), fail: (error) => leaving(() => reject(error)) };
    const abandon = (): void => waiter.fail(new CallerGone());
    const leave = enter(waiter);
    gone?.addEventListener('abort', abandon);
  });

type Semaphore = { running: number; waiting: Set<Waiter> };

/**
 * Runs at most `max` pieces of work of the same key concurrently. When `gone` aborts while work waits, the work is not run and
 * its promise rejects with {@link CallerGone}.
 */
export const keyedSemaphore = (
  max: number,
  { hungAfterMs = Number.POSITIVE_INFINITY, waiting }: TurnLimits = {},
): InTurn => {
  const semaphores = new Map<string, Semaphore>();
  return async (key, work, gone) => {
    if (gone?.aborted) throw new CallerGone();
    const semaphore = semaphores.get(key) ?? { running: 0, waiting: new Set() };
    semaphores.set(key, semaphore);
    if (semaphore.running < max) semaphore.running += 1;
    else if (waiting && semaphore.waiting.size >= waiting.most) throw waiting.refuse();
    // Work that ends starts the next waiter without decrementing `running`, so work that arrives in between cannot overtake it.
    else {
      await waitForTurn(gone, (waiter) => {
        semaphore.waiting.add(waiter);
        return () => semaphore.waiting.delete(waiter);
      });
    }
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      const isFailure = !(error instanceof AppError || error instanceof CallerGone);
      const hasHung = isFailure && performance.now() - startedAt >= hungAfterMs;
      if (hasHung) for (const { fail } of [...semaphore.waiting]) fail(error);
      throw error;
    } finally {
      const [next] = semaphore.waiting;
      if (next) next.start();
      else {
        semaphore.running -= 1;
        if (semaphore.running === 0) semaphores.delete(key);
      }
    }
  };
};

/**
 * Runs work of the same key one piece at a time. Transactions that would wait for the same row lock wait here instead, without
 * holding a database connection. So when an outage ends the windows of many calls of one account at once, the calls of other
 * accounts still get a connection.
 */
export const keyedMutex = (limits?: TurnLimits): InTurn => keyedSemaphore(1, limits);

/**
 * Starts pieces of work one after the other, each when the one before has ended or has taken `overdueMs`. Work that takes long
 * therefore delays the next piece by a limited time, and does not end earlier because of it.
 */
export const oneAfterAnother = (overdueMs: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  const inTurn = keyedMutex();
  return (work) =>
    new Promise((resolve, reject) => {
      void inTurn('', async () => {
        const ended = new AbortController();
        const done = work().finally(() => ended.abort());
        done.then(resolve, reject);
        await pause(overdueMs, undefined, { signal: ended.signal }).catch(() => undefined);
      });
    });
};

/**
 * Runs pieces of work one at a time, each followed by a pause as long as the work took, so that what they use is idle for half
 * of the time.
 */
export const atHalfSpeed = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
  const inTurn = keyedMutex();
  return (work) =>
    inTurn('', async () => {
      const startedAt = performance.now();
      const result = await work();
      await pause(performance.now() - startedAt);
      return result;
    });
};

type TurnsByKeyOptions = {
  /** How many pieces of work run concurrently, over all keys. */
  maxRunning: number;
  /** How many pieces of work may wait, over all keys; `refuse` creates the error of a further one. */
  waiting: { max: number; refuse: () => AppError };
};

/**
 * Runs at most `maxRunning` pieces of work concurrently. Waiting keys take turns, however much work each has; work of one key
 * starts in the order of arrival. When `gone` aborts while work waits, the work is not run and its promise rejects with
 * {@link CallerGone}.
 */
export const turnsByKey = ({ maxRunning, waiting: { max, refuse } }: TurnsByKeyOptions): InTurn => {
  let running = 0;
  let waitingCount = 0;
  /** The first key has the next turn and then moves to the end. */
  const waiting = new Map<string, Set<Waiter>>();

  const startNext = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    const [key, waiters] = next;
    const [waiter] = waiters;
    waiting.delete(key);
    if (waiters.size > 1) waiting.set(key, waiters);
    waiter?.start();
  };

  const waitForKey = (key: string, gone: AbortSignal | undefined): Promise<void> =>
    waitForTurn(gone, (waiter) => {
      const waiters = waiting.get(key) ?? new Set();
      waiters.add(waiter);
      waiting.set(key, waiters);
      waitingCount += 1;
      return () => {
        waiters.delete(waiter);
        if (waiters.size === 0) waiting.delete(key);
        waitingCount -= 1;
      };
    });

  return async (key, work, gone) => {
    if (gone?.aborted) throw new CallerGone();
    if (running < maxRunning) running += 1;
    else if (waitingCount >= max) throw refuse();
    // Work that ends starts the next waiter without decrementing `running`, so work that arrives in between cannot overtake it.
    else await waitForKey(key, gone);
    try {
      return await work();
    } finally {
      startNext();
    }
  };
};
