import { AppError } from '@vat/domain';
import { CallerGone } from './http/caller-gone.js';
import { recentCounts } from './recent-counts.js';

export type FairQueueOptions = {
  /** How many may wait at once. */
  maxWaiting: number;
  /** Work that still waits after so many milliseconds is refused. */
  maxWaitMs: number;
  /** Work that is refused with an {@link AppError} costs a token; so many are there at first, and so many come back a second. */
  tokens: { burst: number; perSecond: number };
  /** The error of work that is refused because too much is waiting. */
  refuse: () => AppError;
  /** Work that fails after so many milliseconds has hung; all that waits fails with it instead of hanging as long. */
  hungAfterMs: number;
  now: () => Date;
};

export type FairWork<T> = {
  /** Where the work comes from: networks from the widest to the narrowest, then what is narrower still. */
  branches: readonly string[];
  /** Throws when the work can be refused at once. It is called on arrival and again when the turn comes, and costs nothing. */
  check: () => void;
  run: () => Promise<T>;
  /** Aborts when the caller has left: its place in the queue is given up. */
  gone: AbortSignal;
};

/** Runs work one piece at a time; throws the error of `check`, of `refuse` or of the work. */
export type FairQueue = <T>(work: FairWork<T>) => Promise<T>;

/** Arrivals count for some minutes: long enough for an attack to be recognised by them, short enough to be forgotten after it. */
const COUNTS = { max: 50_000, halfLifeMs: 5 * 60_000 } as const;

type Entry = { keys: string[]; start: () => void; fail: (error: unknown) => void };

/**
 * A queue that stays fair while one source sends far more than can be done. Its sources form a tree. Where two pieces of
 * work part ways in it, the one from the branch with fewer recent arrivals comes first; when the queue is full, the piece
 * that would come last is refused, be it the new one. A source that sends little is served next, whatever the others send.
 */
export const fairQueue = ({ maxWaiting, maxWaitMs, tokens, refuse, hungAfterMs, now }: FairQueueOptions): FairQueue => {
  const arrivals = recentCounts(COUNTS);
  // In the order of arrival, which decides between equals.
  const waiting = new Set<Entry>();
  let isRunning = false;
  let isWaitingForToken = false;
  let left: number = tokens.burst;
  let refilledAt = now().getTime();

  const count = ({ keys }: Pick<Entry, 'keys'>, by: number): void => {
    const at = now();
    for (const key of keys) arrivals.add(key, by, at);
  };
  /** Above 0 when `a` has the busier branch. */
  const compare = (a: Entry, b: Entry, at: Date): number => {
    const level = a.keys.findIndex((key, n) => key !== b.keys[n]);
    if (level < 0) return 0;
    return arrivals.read(a.keys[level] ?? '', at) - arrivals.read(b.keys[level] ?? '', at);
  };
  const next = (): Entry | undefined => {
    const at = now();
    let first: Entry | undefined;
    for (const entry of waiting) if (!first || compare(first, entry, at) > 0) first = entry;
    return first;
  };
  const makeRoom = (newcomer: Entry): boolean => {
    const at = now();
    let last = newcomer;
    for (const entry of waiting) if (compare(entry, last, at) > 0) last = entry;
    if (last === newcomer) return false;
    last.fail(refuse());
    return true;
  };
  const refill = (): void => {
    const at = now().getTime();
    left = Math.min(tokens.burst, left + (Math.max(0, at - refilledAt) / 1_000) * tokens.perSecond);
    refilledAt = at;
  };
  const startNext = (): void => {
    if (isRunning || waiting.size === 0) return;
    refill();
    if (left < 1) {
      if (isWaitingForToken) return;
      isWaitingForToken = true;
      const wake = (): void => {
        isWaitingForToken = false;
        startNext();
      };
      setTimeout(wake, Math.ceil(((1 - left) / tokens.perSecond) * 1_000));
      return;
    }
    left -= 1;
    isRunning = true;
    next()?.start();
  };
  const waitForTurn = (entry: Pick<Entry, 'keys'>, gone: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(deadline);
        gone.removeEventListener('abort', leave);
        waiting.delete(mine);
      };
      const mine: Entry = {
        ...entry,
        start: () => {
          stop();
          resolve();
        },
        fail: (error) => {
          stop();
          reject(error);
        },
      };
      const leave = (): void => mine.fail(new CallerGone());
      const deadline = setTimeout(() => mine.fail(refuse()), maxWaitMs);
      if (waiting.size >= maxWaiting && !makeRoom(mine)) return mine.fail(refuse());
      waiting.add(mine);
      gone.addEventListener('abort', leave);
      startNext();
    });

  return async ({ branches, check, run, gone }) => {
    if (gone.aborted) throw new CallerGone();
    const entry = { keys: branches.map((_, n) => branches.slice(0, n + 1).join(' ')) };
    count(entry, 1);
    check();
    await waitForTurn(entry, gone);
    let cost = 0;
    const startedAt = performance.now();
    try {
      check();
      cost = 1;
      const result = await run();
      cost = 0;
      count(entry, -1);
      return result;
    } catch (error) {
      if (!(error instanceof AppError)) {
        cost = 0;
        const hasHung = performance.now() - startedAt >= hungAfterMs;
        if (hasHung) for (const { fail } of [...waiting]) fail(error);
      }
      throw error;
    } finally {
      left += 1 - cost;
      isRunning = false;
      startNext();
    }
  };
};
