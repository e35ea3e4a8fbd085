import { AppError, type FairQueue } from '@vat/domain';
import { LRUCache } from 'lru-cache';
import { CallerGone } from './http/connection.js';
import { type Waiter, waitForTurn } from './turns.js';

/** The turns of the branches of a tree. A branch is named by its path; the paths of an entry are ordered from the widest to the narrowest. */
type BranchTurns = {
  /** The turn of the branch at `level` among its siblings. The sibling with the lowest turn is served next. */
  of: (paths: readonly string[], level: number) => number;
  /** Serves an entry: each of its branches moves behind its siblings. */
  take: (paths: readonly string[]) => void;
  /** Undoes {@link BranchTurns.take}. */
  giveBack: (paths: readonly string[]) => void;
};

type Branch = {
  /** When it is served next, counted in services of its parent. */
  turn: number;
  /** The turn of the child that was served last. A child that was idle joins at this turn. */
  current: number;
};

/**
 * Start-time fair queueing at each level of the tree. A branch that was idle has neither credit nor debt: it joins at the turn
 * that is being served. Stores at most `max` branches; the one that was served longest ago is evicted.
 */
const branchTurns = (max: number): BranchTurns => {
  const branches = new LRUCache<string, Branch>({ max });
  const parentOf = (paths: readonly string[], level: number): string => paths[level - 1] ?? '';
  const update = (path: string, change: (branch: Branch) => Branch): void =>
    void branches.set(path, change(branches.get(path) ?? { turn: 0, current: 0 }));
  const turnOf = (paths: readonly string[], level: number): number => {
    const own = branches.peek(paths[level] ?? '')?.turn ?? 0;
    return Math.max(own, branches.peek(parentOf(paths, level))?.current ?? 0);
  };
  return {
    of: turnOf,
    take: (paths) => {
      for (const [level, path] of paths.entries()) {
        const turn = turnOf(paths, level);
        update(parentOf(paths, level), (parent) => ({ ...parent, current: turn }));
        update(path, (branch) => ({ ...branch, turn: turn + 1 }));
      }
    },
    giveBack: (paths) => {
      for (const path of paths) update(path, (branch) => ({ ...branch, turn: branch.turn - 1 }));
    },
  };
};

/** How often each key was counted recently. Counts decay with the half-life `halfLifeMs`. */
type RecentCounts = {
  add: (key: string, by: number, at: Date) => void;
  read: (key: string, at: Date) => number;
};

/** Counts at most `max` keys. When it is full, the key that was counted longest ago is evicted. */
export const recentCounts = ({ max, halfLifeMs }: { max: number; halfLifeMs: number }): RecentCounts => {
  const counts = new LRUCache<string, { value: number; at: number }>({ max });
  const read = (key: string, at: Date): number => {
    const count = counts.peek(key);
    if (!count) return 0;
    const passed = at.getTime() - count.at;
    return passed > 0 ? count.value * 2 ** -(passed / halfLifeMs) : count.value;
  };
  return {
    add: (key, by, at) => void counts.set(key, { value: Math.max(0, read(key, at) + by), at: at.getTime() }),
    read,
  };
};

export type FairQueueOptions = {
  /** How many pieces of work may wait. */
  maxWaiting: number;
  /** Work that still waits after this many milliseconds is refused. */
  maxWaitMs: number;
  /** Work that fails with an {@link AppError} costs a token: `burst` tokens at first, `perSecond` are refilled each second. */
  tokens: { burst: number; perSecond: number };
  /** The error of work that is refused because too much is waiting. */
  refuse: () => AppError;
  /** Work that fails after this many milliseconds has hung. Unless the next piece ends soon, everything that waits fails with it. */
  hungAfterMs: number;
  now: () => Date;
};

/** Arrivals decay over minutes: slowly enough to recognise an attack, fast enough that its networks are not penalised long after it. */
const ARRIVALS = { max: 50_000, halfLifeMs: 5 * 60_000 } as const;

/** Branches whose turn is stored: more than are served while one piece of work waits. */
const MAX_BRANCHES = 10_000;

/** Callers that wait behind work that hangs are answered within two seconds. */
const CONFIRM_HUNG_MS = 400;

type Entry = Waiter & { keys: string[] };

/**
 * A queue that stays fair while one source sends far more work than can be done. The sources form a tree. Two pieces of work
 * are compared at the level where their branches differ: the branches take turns there, and of two branches with the same turn
 * the one with fewer recent arrivals comes first. When the queue is full, the piece of work that would be served last is
 * refused, which may be the new one. So a source that sends little is served soon, whatever the others send.
 */
export const fairQueue = ({ maxWaiting, maxWaitMs, tokens, refuse, hungAfterMs, now }: FairQueueOptions): FairQueue => {
  const arrivals = recentCounts(ARRIVALS);
  const turns = branchTurns(MAX_BRANCHES);
  // In the order of arrival, which decides between entries that compare equal.
  const waiting = new Set<Entry>();
  let isRunning = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isWaitingForToken = false;
  let availableTokens: number = tokens.burst;
  let refilledAt = now().getTime();

  const count = ({ keys }: Pick<Entry, 'keys'>, by: number): void => {
    const at = now();
    for (const key of keys) arrivals.add(key, by, at);
  };
  /** Positive when `a` is served after `b`. */
  const compare = (a: Pick<Entry, 'keys'>, b: Pick<Entry, 'keys'>, at: Date): number => {
    const level = a.keys.findIndex((key, n) => key !== b.keys[n]);
    if (level < 0) return 0;
    const turn = turns.of(a.keys, level) - turns.of(b.keys, level);
    return turn === 0 ? arrivals.read(a.keys[level] ?? '', at) - arrivals.read(b.keys[level] ?? '', at) : turn;
  };
  const next = (): Entry | undefined => {
    const at = now();
    let first: Entry | undefined;
    for (const entry of waiting) if (!first || compare(first, entry, at) > 0) first = entry;
    return first;
  };
  /** The waiting entry that would be served last, the latest of equals; undefined when that is `newcomer`. */
  const findLast = (newcomer: Pick<Entry, 'keys'>): Entry | undefined => {
    const at = now();
    let last: Entry | undefined;
    for (const entry of waiting) {
      const difference = compare(entry, last ?? newcomer, at);
      if (difference > 0 || (difference === 0 && last)) last = entry;
    }
    return last;
  };
  const hasRoom = (newcomer: Pick<Entry, 'keys'>): boolean =>
    waiting.size < maxWaiting || findLast(newcomer) !== undefined;
  const refill = (): void => {
    const at = now().getTime();
    availableTokens = Math.min(
      tokens.burst,
      availableTokens + (Math.max(0, at - refilledAt) / 1_000) * tokens.perSecond,
    );
    refilledAt = at;
  };
  const startNext = (): void => {
    if (isRunning || waiting.size === 0) return;
    refill();
    if (availableTokens < 1) {
      if (isWaitingForToken) return;
      isWaitingForToken = true;
      const resume = (): void => {
        isWaitingForToken = false;
        startNext();
      };
      setTimeout(resume, Math.ceil(((1 - availableTokens) / tokens.perSecond) * 1_000));
      return;
    }
    const entry = next();
    if (!entry) return;
    availableTokens -= 1;
    isRunning = true;
    turns.take(entry.keys);
    entry.start();
  };
  const enqueue = async (entry: Pick<Entry, 'keys'>, gone: AbortSignal): Promise<void> => {
    if (!hasRoom(entry)) throw refuse();
    if (waiting.size >= maxWaiting) findLast(entry)?.fail(refuse());
    const turn = waitForTurn(gone, (waiter) => {
      const own: Entry = { ...entry, ...waiter };
      const deadline = setTimeout(() => own.fail(refuse()), maxWaitMs);
      waiting.add(own);
      return () => {
        clearTimeout(deadline);
        waiting.delete(own);
      };
    });
    startNext();
    return turn;
  };

  /** The path of each branch: its name after those of the branches above it. */
  const entryOf = (branches: readonly string[]): Pick<Entry, 'keys'> => {
    let key = '';
    const keys = branches.map((branch) => {
      key = `${key} ${branch}`;
      return key;
    });
    return { keys };
  };

  const refuseAtOnce: FairQueue['refuseAtOnce'] = ({ branches, check }) => {
    const entry = entryOf(branches);
    count(entry, 1);
    const error = check() ?? (hasRoom(entry) ? null : refuse());
    // It is counted again when it is queued.
    if (!error) count(entry, -1);
    return error;
  };

  /**
   * In a flood, one piece of work may time out because the process was busy. When Postgres is away, the next one does not end
   * either, and then everything that waits fails.
   */
  const failUnlessAnswered = (error: unknown): void => {
    const hungAt = performance.now();
    const failAll = (): void => {
      if (answeredAt < hungAt) for (const { fail } of [...waiting]) fail(error);
    };
    setTimeout(failAll, CONFIRM_HUNG_MS);
  };

  const run: FairQueue['run'] = async ({ branches, check, run: work, gone }) => {
    if (gone.aborted) throw new CallerGone();
    const entry = entryOf(branches);
    count(entry, 1);
    const early = check();
    if (early) throw early;
    await enqueue(entry, gone);
    let cost = 0;
    const startedAt = performance.now();
    try {
      const late = check();
      if (late) throw late;
      cost = 1;
      const result = await work();
      answeredAt = performance.now();
      cost = 0;
      count(entry, -1);
      return result;
    } catch (error) {
      if (error instanceof AppError) answeredAt = performance.now();
      else {
        cost = 0;
        if (performance.now() - startedAt >= hungAfterMs) failUnlessAnswered(error);
      }
      throw error;
    } finally {
      availableTokens += 1 - cost;
      if (cost === 0) turns.giveBack(entry.keys);
      isRunning = false;
      startNext();
    }
  };

  return { run, refuseAtOnce };
};
