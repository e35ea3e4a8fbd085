import type { Reader } from '../account/api-key.js';
import type { EventType, NewEvent } from './event-bodies.js';

/** A stored event of an account. */
export type AccountEvent = NewEvent & { test: boolean; createdAt: Date };

/** The filters of the list of events. `from` is inclusive, `to` exclusive. */
export type EventFilter = { type?: EventType | undefined; from?: Date | undefined; to?: Date | undefined };

/**
 * Where an event is in the order of its account. `position`: a whole number as text, in the order of commits and unique; only
 * events from before positions existed share one, `0`, and are in the order of their ids.
 */
export type EventPosition = { position: string; id: string };

/** A call that waits for an event of its account after the position `newest`, until a point in time or until it is cancelled. */
export type EventWait = { reader: Reader; newest: string; until: Date; cancelled: AbortSignal };

export type FollowEventsDeps = {
  /**
   * The position of an event, or with null the one before all events; and the position of the newest event of the account, `0`
   * if none has one. Null: there is no such event that `reader` may read.
   */
  findPosition: (after: string | null, reader: Reader) => Promise<{ after: EventPosition; newest: string } | null>;
  /** Events after a position in the order of positions. */
  listAfter: (
    reader: Reader,
    type: EventType | undefined,
    after: EventPosition,
    limit: number,
  ) => Promise<AccountEvent[]>;
  /** Resolves to the position of the newest event once it has changed; to null when the wait has ended without. */
  awaitNewer: (wait: EventWait) => Promise<string | null>;
  now: () => Date;
};

/** `after`: the id of the last event that the caller has; null begins with the first one that is stored. */
export type FollowCall = {
  reader: Reader;
  after: string | null;
  type: EventType | undefined;
  limit: number;
  waitMs: number;
  cancelled: AbortSignal;
};

/**
 * The events after one, oldest first. If there is none, waits for one. An event is visible before any event with a later
 * position is, so a caller who continues after the last one misses none and gets none twice. Null when the caller's event is
 * not stored. With a type the call may be woken by events of other types and waits on.
 */
export const followEvents =
  ({ findPosition, listAfter, awaitNewer, now }: FollowEventsDeps) =>
  async ({ reader, after, type, limit, waitMs, cancelled }: FollowCall): Promise<AccountEvent[] | null> => {
    const until = new Date(now().getTime() + waitMs);
    const found = await findPosition(after, reader);
    if (found === null) return null;
    let { newest } = found;
    const isNewest = found.after.position !== '0' && found.after.position === newest;
    let events = isNewest ? [] : await listAfter(reader, type, found.after, limit);
    while (events.length === 0 && waitMs > 0) {
      // The position was read before the list, so an event that was committed in between ends the wait at once.
      const newer = await awaitNewer({ reader, newest, until, cancelled });
      if (newer === null) break;
      newest = newer;
      events = await listAfter(reader, type, found.after, limit);
    }
    return events;
  };
