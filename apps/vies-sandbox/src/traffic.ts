import { MEMBER_STATES, type MemberState, type Trader } from '@vat/domain';
import type { Answer } from './answer.js';

/** Counters of lookups. `answered` and `aborted` (by either side) count the lookups that ended since the last reset. */
type TrafficCounters = {
  in_flight: number;
  max_in_flight: number;
  total: number;
  answered: number;
  aborted: number;
};

/** The reply of `GET /_control/stats`; member states without a lookup are omitted. */
export type TrafficStats = { states: Partial<Record<MemberState, TrafficCounters>>; totals: TrafficCounters };

/** Counts the lookups in flight; `enter` returns their number in the member state, including this one. */
export type Traffic = {
  enter: (state: MemberState) => number;
  leave: (state: MemberState, answered: boolean) => void;
  stats: () => TrafficStats;
  reset: () => void;
};

const none = (): TrafficCounters => ({ in_flight: 0, max_in_flight: 0, total: 0, answered: 0, aborted: 0 });

const enter = (counters: TrafficCounters): void => {
  counters.total += 1;
  counters.in_flight += 1;
  counters.max_in_flight = Math.max(counters.max_in_flight, counters.in_flight);
};

const leave = (counters: TrafficCounters, answered: boolean): void => {
  counters.in_flight -= 1;
  if (answered) counters.answered += 1;
  else counters.aborted += 1;
};

// The number in flight is not reset, or a test would see fewer lookups than there are.
const restart = (counters: TrafficCounters): void => {
  const { in_flight } = counters;
  Object.assign(counters, none(), { in_flight, max_in_flight: in_flight });
};

/**
 * Creates counters for each member state and in total. A reset keeps the numbers in flight and sets the others to 0.
 */
export const createTraffic = (): Traffic => {
  const states = new Map(MEMBER_STATES.map((state) => [state, none()]));
  const totals = none();
  const of = (state: MemberState) => states.get(state) ?? none();

  return {
    enter: (state) => {
      enter(totals);
      enter(of(state));
      return of(state).in_flight;
    },
    leave: (state, answered) => {
      leave(totals, answered);
      leave(of(state), answered);
    },
    stats: () => ({
      states: Object.fromEntries([...states].filter(([, { total, in_flight }]) => total > 0 || in_flight > 0)),
      totals,
    }),
    reset: () => {
      restart(totals);
      for (const counters of states.values()) restart(counters);
    },
  };
};

/** One lookup as in `GET /_control/journal`. Times are milliseconds since 1970 with fractions. */
export type JournalEntry = {
  at: number;
  /** Null while in flight. */
  finished_at: number | null;
  member_state: MemberState;
  /** With its prefix, e.g. DE123456789. */
  number: string;
  requester: string | null;
  trader: Trader | null;
  answer: Answer['kind'];
  /** The error code of the answer, for kind `error`. */
  code: string | null;
  /** The member state's lookups in flight when this one began, including itself. */
  in_flight_at_start: number;
};

/** The last lookups, oldest first. */
export type Journal = {
  add: (entry: JournalEntry) => void;
  list: (number: string | null) => JournalEntry[];
  reset: () => void;
};

/** Creates a journal of the last `limit` lookups. */
export const createJournal = ({ limit }: { limit: number }): Journal => {
  let entries: JournalEntry[] = [];
  return {
    add: (entry) => {
      entries.push(entry);
      if (entries.length >= 2 * limit) entries = entries.slice(-limit); // rarely, instead of one shift for each lookup
    },
    list: (number) => entries.slice(-limit).filter((entry) => number === null || entry.number === number),
    reset: () => {
      entries = [];
    },
  };
};
