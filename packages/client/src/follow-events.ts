import type { Event } from './generated/api-types.js';
import type { Surroundings } from './send.js';

/** The answer to `GET /v1/events` with `after`. */
type EventsAfter = { data: Event[]; last_event_id: string | null };

/** Events as they happen, without end. */
export type EventFollower = AsyncIterable<Event> & {
  /** Where to continue later: the `event_id` of the last event after which the next one was asked for, or `start`. */
  after: () => string;
};

type Deps = Pick<Surroundings, 'now' | 'sleep'> & {
  /** Reads the events after a place; the service holds the call until there is one, for up to 20 s. */
  read: (after: string) => Promise<EventsAfter>;
};

/** A service that answers an empty page at once is not called more often than this. */
const PAUSE_MS = 1_000;

/**
 * Follows the events after an `event_id`, or from the `start`. None is missed. One whose loop ended, by an error or `break`, counts
 * as not handled and comes again.
 */
export const followEvents =
  ({ read, now, sleep }: Deps) =>
  (start: string, signal?: AbortSignal): EventFollower => {
    let place = start;
    const follow = async function* () {
      for (;;) {
        const readAt = now();
        const { data, last_event_id: last } = await read(place);
        for (const event of data) {
          yield event;
          place = event.event_id;
        }
        place = last ?? place;
        if (data.length === 0 && now() - readAt < PAUSE_MS) await sleep(PAUSE_MS, signal);
      }
    };
    return { [Symbol.asyncIterator]: follow, after: () => place };
  };
