import type { MemberState, Trader } from '@vat/domain';
import type { Answer } from './answer.js';

/** One ask as `GET /_control/journal` shows it. Times are milliseconds since 1970 with fractions. */
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
  /** The error code answered, for kind `error`. */
  code: string | null;
  /** Asks of the member state in flight as this one came, itself included. */
  in_flight_at_start: number;
};

/** The last asks, oldest first. */
export type Journal = {
  add: (entry: JournalEntry) => void;
  list: (number: string | null) => JournalEntry[];
  reset: () => void;
};

/** A journal of the last `limit` asks. */
export const createJournal = ({ limit }: { limit: number }): Journal => {
  let entries: JournalEntry[] = [];
  return {
    add: (entry) => {
      entries.push(entry);
      if (entries.length >= 2 * limit) entries = entries.slice(-limit); // seldom, instead of a shift an ask
    },
    list: (number) => entries.slice(-limit).filter((entry) => number === null || entry.number === number),
    reset: () => {
      entries = [];
    },
  };
};
