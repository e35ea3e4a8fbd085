import { presentHistory, presentHistoryEntry } from '@vat/contracts';
import { type HourTally, historyEntry, type MemberState } from '@vat/domain';
import { LRUCache } from 'lru-cache';
import { cached } from '../cached.js';
import type { ResponseTo } from '../http/route.js';

type HistoryDeps = {
  readHours: (from: Date, to: Date, memberState: MemberState | null) => Promise<HourTally[]>;
  now: () => Date;
};

type History = ResponseTo<'getStatusHistory'>['body'];

/** Reads the history of a period of at most 31 days, of one member state or of all. */
export type ReadHistory = (period: { from: Date; to: Date }, memberState: MemberState | null) => Promise<History>;

const DAY_MS = 86_400_000;
/** How long a day is cached. Workers write their counts every five seconds; a day that is over hardly changes. */
const CACHED_MS = { today: 5_000, past: 60_000 };
/** Two periods of the longest length. */
const MAX_CACHED_DAYS = 64;

/**
 * Reads the history of the member states. That of all of them is read, and cached, by the day: a month has twenty thousand
 * entries, and reading them at once would delay all other calls of the process.
 */
export const readHistory = ({ readHours, now }: HistoryDeps): ReadHistory => {
  const read = async (from: Date, to: Date, memberState: MemberState | null): Promise<History['data']> =>
    (await readHours(from, to, memberState)).map((tally) => presentHistoryEntry(historyEntry(tally)));

  const days = new LRUCache<number, (at: Date) => Promise<History['data']>>({ max: MAX_CACHED_DAYS });
  const readDay = (day: number): Promise<History['data']> => {
    const end = day + DAY_MS;
    const known = days.get(day);
    const of =
      known ??
      cached(() => read(new Date(day), new Date(end), null), now().getTime() < end ? CACHED_MS.today : CACHED_MS.past);
    if (!known) days.set(day, of);
    return of(now());
  };
  const readDays = async (from: Date, to: Date): Promise<History['data']> => {
    const data: History['data'] = [];
    const [first, end] = [from.toISOString(), to.toISOString()];
    for (let day = Math.floor(from.getTime() / DAY_MS) * DAY_MS; day < to.getTime(); day += DAY_MS)
      for (const entry of await readDay(day)) if (entry.hour >= first && entry.hour < end) data.push(entry);
    return data;
  };

  return async ({ from, to }, memberState) =>
    presentHistory({ from, to }, await (memberState === null ? readDays(from, to) : read(from, to, memberState)));
};
