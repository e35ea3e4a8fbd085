import { AppError } from '@vat/domain';
import { CallerGone } from './http/connection.js';

/** Whose turn it is in a tree of branches. A branch is named by its path; the paths of an entry run from the widest to the narrowest. */
type BranchTurns = {
  /** The turn of the branch at `level` among its siblings: the lowest is next. */
  of: (paths: readonly string[], level: number) => number;
  /** Serves an entry: each of its branches comes after its siblings now. */
  take: (paths: readonly string[]) => void;
  /** Undoes {@link BranchTurns.take}. */
  giveBack: (paths: readonly string[]) => void;
};

type Branch = {
  /** When it is served next, in services of its parent. */
  turn: number;
  /** The turn of the child that was served last: where a child joins that was idle. */
  current: number;
};

/**
 * Start-time fair queueing at each level of the tree. A branch that was idle saves up nothing and owes nothing: it joins at
 * the turn that is being served. Remembers at most `max` branches: the one served longest ago makes room.
 */
const branchTurns = (max: number): BranchTurns => {
  const branches = new Map<string, Branch>();
  const parentOf = (paths: readonly string[], level: number): string => paths[level - 1] ?? '';
  const change = (path: string, amend: (branch: Branch) => Branch): void => {
    const branch = branches.get(path) ?? { turn: 0, current: 0 };
    // Deleted first, so that the map stays in the order of the latest use.
    branches.delete(path);
    branches.set(path, amend(branch));
    if (branches.size <= max) return;
    for (const oldest of branches.keys()) {
      branches.delete(oldest);
      break;
    }
  };
  const turnOf = (paths: readonly string[], level: number): number => {
    const own = branches.get(paths[level] ?? '')?.turn ?? 0;
    return Math.max(own, branches.get(parentOf(paths, level))?.current ?? 0);
  };
  return {
    of: turnOf,
    take: (paths) => {
      for (const [level, path] of paths.entries()) {
        const turn = turnOf(paths, level);
        change(parentOf(paths, level), (parent) => ({ ...parent, current: turn }));
        change(path, (branch) => ({ ...branch, turn: turn + 1 }));
      }
    },
    giveBack: (paths) => {
      for (const path of paths) change(path, (branch) => ({ ...branch, turn: branch.turn - 1 }));
    },
  };
};

type Count = { value: number; at: number };

/** How often each key was counted lately. A count fades: after `halfLifeMs` it is worth half. */
type RecentCounts = {
  add: (key: string, by: number, at: Date) => void;
  read: (key: string, at: Date) => number;
};

/** Counts of at most `max` keys: the one that was counted longest ago makes room for a new one. */
export const recentCounts = ({ max, halfLifeMs }: { max: number; halfLifeMs: number }): RecentCounts => {
  const counts = new Map<string, Count>();
  const fade = ({ value, at }: Count, now: number): number => value * 2 ** -(Math.max(0, now - at) / halfLifeMs);
  return {
    add: (key, by, at) => {
      const count = counts.get(key);
      const now = at.getTime();
      // Deleted first, so that the map stays in the order of the latest use.
      counts.delete(key);
      counts.set(key, { value: Math.max(0, (count ? fade(count, now) : 0) + by), at: now });
      if (counts.size <= max) return;
      for (const oldest of counts.keys()) {
        counts.delete(oldest);
        break;
      }
    },
    read: (key, at) => {
      const count = counts.get(key);
      return count ? fade(count, at.getTime()) : 0;
    },
  };
};

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

export type Arrival = {
  /** Where the work comes from: networks from the widest to the narrowest, then what is narrower still. */
  branches: readonly string[];
  /** The error with which the work can be refused at once, or null. Checked on arrival and again when the turn comes; costs nothing. */
  check: () => AppError | null;
};

type FairWork<T> = Arrival & {
  run: () => Promise<T>;
  /** Aborts when the caller has left: its place in the queue is given up. */
  gone: AbortSignal;
};

export type FairQueue = {
  /** Runs work one piece at a time; throws the error of `check`, of `refuse` or of the work. */
  run: <T>(work: FairWork<T>) => Promise<T>;
  /** The error with which work would be refused on its arrival, or null. A refusal counts as an arrival. */
  refuseAtOnce: (arrival: Arrival) => AppError | null;
};

/** Arrivals count for some minutes: long enough for an attack to be recognised by them, short enough to be forgotten after it. */
const ARRIVALS = { max: 50_000, halfLifeMs: 5 * 60_000 } as const;

/** Branches whose turn is remembered: more than are served in the time that work waits. */
const MAX_BRANCHES_SERVED = 10_000;

type Entry = { keys: string[]; start: () => void; fail: (error: unknown) => void };

/**
 * A queue that stays fair while one source sends far more than can be done. Its sources form a tree. Where two pieces of
 * work part ways in it, the branches take turns; of branches that are equal in that, the one with fewer recent arrivals
 * comes first. When the queue is full, the piece that would come last is refused, be it the new one. So a source that
 * sends little is served next, whatever the others send.
 */
export const fairQueue = ({ maxWaiting, maxWaitMs, tokens, refuse, hungAfterMs, now }: FairQueueOptions): FairQueue => {
  const arrivals = recentCounts(ARRIVALS);
  const turns = branchTurns(MAX_BRANCHES_SERVED);
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
  /** Above 0 when `a` comes after `b`. */
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
  /** The one that would come last, the latest of equals, if that is not `newcomer`. */
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
    const entry = next();
    if (!entry) return;
    left -= 1;
    isRunning = true;
    turns.take(entry.keys);
    entry.start();
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
      if (!hasRoom(mine)) return mine.fail(refuse());
      if (waiting.size >= maxWaiting) findLast(mine)?.fail(refuse());
      waiting.add(mine);
      gone.addEventListener('abort', leave);
      startNext();
    });

  /** Every branch with those above it. */
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
    // It will arrive again.
    if (!error) count(entry, -1);
    return error;
  };

  const run: FairQueue['run'] = async ({ branches, check, run: work, gone }) => {
    if (gone.aborted) throw new CallerGone();
    const entry = entryOf(branches);
    count(entry, 1);
    const early = check();
    if (early) throw early;
    await waitForTurn(entry, gone);
    let cost = 0;
    const startedAt = performance.now();
    try {
      const late = check();
      if (late) throw late;
      cost = 1;
      const result = await work();
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
      if (cost === 0) turns.giveBack(entry.keys);
      isRunning = false;
      startNext();
    }
  };

  return { run, refuseAtOnce };
};
