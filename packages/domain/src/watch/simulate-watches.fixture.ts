import { TYPICAL_DURATIONS_MS, type WaitClass } from '../member-state-health.js';
import type { HourTally } from '../member-state-history.js';
import { type MemberState, SLOTS_PER_MEMBER_STATE } from '../member-states.js';
import { decideLookup } from '../request/decide-lookup.js';
import { abandonReasonOf } from '../request/give-up.js';
import { lookupEndOf } from '../request/perform-lookup.js';
import { newRequest, POLICY, silence, verdict } from '../request/request.fixture.js';
import type { CheckRequest } from '../request/request.js';
import { TURN_PLACES } from '../request/turn-places.js';
import { nextAfterMiss, RUN_LIMITS, startDueWatches } from './run-watch.js';
import type { DueWatch } from './watch.js';

/** A queue of items by a number, the smallest first; equal ones in the order of their arrival. */
const createHeap = <T>() => {
  const items: { by: number; n: number; item: T }[] = [];
  let arrived = 0;
  const isBefore = (a: number, b: number): boolean => {
    const x = items[a];
    const y = items[b];
    return x !== undefined && y !== undefined && (x.by < y.by || (x.by === y.by && x.n < y.n));
  };
  const swap = (a: number, b: number): void => {
    const x = items[a];
    const y = items[b];
    if (!x || !y) return;
    items[a] = y;
    items[b] = x;
  };
  return {
    /** The smallest number; Infinity in an empty queue. */
    first: () => items[0]?.by ?? Number.POSITIVE_INFINITY,
    add: (by: number, item: T): void => {
      items.push({ by, n: arrived++, item });
      for (let i = items.length - 1; i > 0 && isBefore(i, (i - 1) >> 1); i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
    },
    take: (): T | undefined => {
      const taken = items[0]?.item;
      swap(0, items.length - 1);
      items.pop();
      for (let i = 0; ; ) {
        const left = 2 * i + 1;
        const least = isBefore(left + 1, left) ? left + 1 : left;
        if (!isBefore(least, i)) return taken;
        swap(i, least);
        i = least;
      }
    },
  };
};

/** Random numbers that are the same in every run (mulberry32). */
export const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

export type SimulatedWatch = DueWatch & {
  nextCheckAt: Date;
  /** When its last run ended with a check; null before. */
  lastCheckedAt: Date | null;
};

type Options = {
  watches: SimulatedWatch[];
  from: Date;
  until: Date;
  /** What the member state does at a time: the tally of an hour of its history, from which lookups are drawn. */
  historyOf: (memberState: MemberState, at: number) => Omit<HourTally, 'memberState' | 'hour'>;
  /** Calls per second that wait for an answer, from other accounts. */
  directPerSecond: (memberState: MemberState) => number;
  random: () => number;
};

/** What happened: every run that ended with a check, and every run that ended without. */
export type SimulatedRun = { watch: SimulatedWatch; dueAt: Date; endedAt: Date; answered: boolean };

/** As after a saturated answer in a worker. */
const SATURATED_PAUSE_MS = 250;
/** Between two lookups in one slot. */
const OVERHEAD_MS = 15;
/** WATCHES_EVERY */
const START_EVERY_MS = 5_000;

type Job = { request: CheckRequest; turnClass: WaitClass; accountId: string; watch: SimulatedWatch | null };
type State = {
  made: number;
  waiting: ReturnType<typeof createHeap<Job>>;
  ranks: Map<string, number>;
  inUse: number;
  pausedUntil: number;
  due: Map<string, ReturnType<typeof createHeap<SimulatedWatch>>>;
  underWay: Map<SimulatedWatch, Job>;
};

/**
 * Runs watches through time with the rules of the service: due watches are started by {@link startDueWatches}, their lookups wait
 * by {@link TURN_PLACES} for one of two slots, {@link decideLookup} decides what follows. In place of Postgres and Redis it has lists
 * in memory, and in place of VIES lookups that are drawn from a history.
 */
export const simulateWatches = async (options: Options): Promise<SimulatedRun[]> => {
  const { random } = options;
  const runs: SimulatedRun[] = [];
  const events = createHeap<() => void>();
  let now = options.from.getTime();
  const clock = () => new Date(now);
  const states = new Map<MemberState, State>();
  const stateOf = (memberState: MemberState): State => {
    const known = states.get(memberState);
    if (known) return known;
    const empty = { made: 0, inUse: 0, pausedUntil: 0, ranks: new Map(), due: new Map(), underWay: new Map() };
    const state: State = { ...empty, waiting: createHeap<Job>() };
    states.set(memberState, state);
    return state;
  };
  const schedule = (watch: SimulatedWatch): void => {
    const { due } = stateOf(watch.memberState);
    const mine = due.get(watch.accountId) ?? createHeap<SimulatedWatch>();
    due.set(watch.accountId, mine);
    mine.add(watch.nextCheckAt.getTime(), watch);
  };

  const enqueue = (job: Job): void => {
    const state = stateOf(job.request.memberState);
    const turn = `${job.accountId} ${job.turnClass}`;
    const rank = (state.ranks.get(turn) ?? 0) + 1;
    state.ranks.set(turn, rank);
    const { ahead, each } = TURN_PLACES[job.turnClass];
    state.waiting.add(state.made + ahead + each * rank, job);
    work(state, job.request.memberState);
  };

  const end = (job: Job, answered: boolean): void => {
    const { watch, request } = job;
    if (watch === null) return;
    stateOf(watch.memberState).underWay.delete(watch);
    runs.push({ watch, dueAt: request.createdAt, endedAt: clock(), answered });
    if (answered) watch.lastCheckedAt = clock();
    else watch.nextCheckAt = nextAfterMiss(watch.nextCheckAt, clock());
    schedule(watch);
  };

  const lookUp = (job: Job, state: State): void => {
    const { request } = job;
    if (abandonReasonOf(request, clock()) !== null) {
      end(job, false);
      return;
    }
    const history = options.historyOf(request.memberState, now);
    const drawn = random() * (history.answered + history.saturated + history.unavailable);
    const outcome =
      drawn < history.answered
        ? verdict(true)
        : silence(drawn < history.answered + history.saturated ? 'saturated' : 'unavailable');
    let counted = 0;
    for (const n of history.buckets) counted += n;
    let bucket = -1;
    for (let rest = random() * counted; rest >= 0; rest -= history.buckets[bucket] ?? 1) bucket += 1;
    const startedAt = clock();
    state.inUse += 1;
    events.add(now + OVERHEAD_MS + (TYPICAL_DURATIONS_MS[bucket] ?? 0), () => {
      state.inUse -= 1;
      if (lookupEndOf(outcome) === 'saturated') state.pausedUntil = now + SATURATED_PAUSE_MS;
      const decision = decideLookup(request, { outcome, startedAt, endedAt: clock(), backpressure: false }, POLICY);
      const { next, giveUpAt, ...changes } = decision;
      if (next.kind === 'settle') end(job, true);
      else if (next.kind === 'refuse') throw new Error('no requester is sent');
      else if (job.watch !== null) {
        // Its entries are of no use here.
        job.request = { ...request, ...changes, entries: [], giveUpAt: giveUpAt ?? request.giveUpAt, dueAt: next.at };
        events.add(next.at.getTime(), () => enqueue(job));
      }
      work(state, request.memberState);
    });
  };

  const work = (state: State, memberState: MemberState): void => {
    if (state.pausedUntil > now) return void events.add(state.pausedUntil, () => work(state, memberState));
    while (state.inUse < SLOTS_PER_MEMBER_STATE) {
      const job = state.waiting.take();
      if (!job) return;
      const turn = `${job.accountId} ${job.turnClass}`;
      state.ranks.set(turn, (state.ranks.get(turn) ?? 1) - 1);
      state.made += 1;
      lookUp(job, state);
    }
  };

  const isDue = ({ due, underWay }: State): boolean => {
    if (underWay.size >= RUN_LIMITS.underWay) return false;
    for (const heap of due.values()) if (heap.first() <= now) return true;
    return false;
  };

  let all: State[] = [];
  const started = new Map<string, { watch: SimulatedWatch; request: CheckRequest }>();
  const found = new Map<string, SimulatedWatch>();
  const start = startDueWatches({
    findDue: async (at, limits) => {
      const due: SimulatedWatch[] = [];
      for (const state of all.filter(isDue)) {
        const ranks = new Map<string, number>();
        let waiting = 0;
        for (const { accountId, request } of state.underWay.values()) {
          if (request.dueAt > at) continue;
          waiting += 1;
          ranks.set(accountId, (ranks.get(accountId) ?? 0) + 1);
        }
        let room = Math.min(limits.waiting - waiting, limits.underWay - state.underWay.size);
        for (; room > 0; room -= 1) {
          let next: string | null = null;
          for (const [account, heap] of state.due)
            if (heap.first() <= at.getTime() && (next === null || (ranks.get(account) ?? 0) < (ranks.get(next) ?? 0)))
              next = account;
          const watch = next === null ? undefined : state.due.get(next)?.take();
          if (next === null || !watch) break;
          ranks.set(next, (ranks.get(next) ?? 0) + 1);
          found.set(watch.id, watch);
          due.push(watch);
        }
      }
      return due;
    },
    startRun: async ({ watchId, requestId, now: createdAt, giveUpAt, nextCheckAt }) => {
      const watch = found.get(watchId);
      if (!watch) return 'not_due';
      found.delete(watchId);
      const dueAt = watch.nextCheckAt;
      watch.nextCheckAt = nextCheckAt;
      const { memberState, vatNumber, accountId } = watch;
      const request = newRequest({
        ...{ id: requestId, accountId, memberState, vatNumber, national: vatNumber.slice(2), origin: 'watch' },
        ...{ state: 'pending', createdAt, windowEndsAt: createdAt, dueAt: createdAt, giveUpAt },
      });
      started.set(requestId, { watch, request: { ...request, createdAt: dueAt } });
      return 'started';
    },
    enqueue: async (requests) => {
      for (const { id, accountId } of requests) {
        const run = started.get(id);
        if (!run) throw new Error('the run was not started');
        started.delete(id);
        const job: Job = { ...run, turnClass: 'watch', accountId };
        stateOf(run.watch.memberState).underWay.set(run.watch, job);
        enqueue(job);
      }
    },
    onEnqueueFailure: (error) => {
      throw error;
    },
    publishChange: () => undefined,
    stopping: new AbortController().signal,
    now: clock,
  });

  options.watches.forEach(schedule);
  all = [...states.values()];
  let calls = 0;
  const callAt = (memberState: MemberState, perSecond: number, at: number): void =>
    events.add(at, () => {
      calls += 1;
      const request = newRequest({ memberState, createdAt: clock() });
      enqueue({ request, turnClass: 'interactive', accountId: `caller ${calls % 50}`, watch: null });
      callAt(memberState, perSecond, now - (Math.log(1 - random()) * 1_000) / perSecond);
    });
  for (const memberState of states.keys()) {
    const perSecond = options.directPerSecond(memberState);
    if (perSecond > 0) callAt(memberState, perSecond, now);
  }
  for (let tick = now; tick < options.until.getTime(); tick += START_EVERY_MS) {
    while (events.first() <= tick) {
      now = events.first();
      events.take()?.();
    }
    now = tick;
    if (all.some(isDue)) await start();
  }
  return runs;
};
