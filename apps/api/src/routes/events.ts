import { type EVENT_OPERATIONS, presentEvent } from '@vat/contracts';
import {
  type AccountEvent,
  badRequest,
  type EventFilter,
  type FollowCall,
  publicId,
  type Reader,
  type StoredId,
  uuidOf,
} from '@vat/domain';
import { callerAgain, found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { ownerOf, replyWithPage } from '../http/parse.js';
import type { Routes } from '../http/route.js';

export type EventRoutesDeps = {
  listEvents: (reader: Reader, filter: EventFilter, beforeId: string | null, limit: number) => Promise<AccountEvent[]>;
  findEvent: (id: StoredId<'event'>, reader: Reader) => Promise<AccountEvent | null>;
  followEvents: (call: FollowCall) => Promise<AccountEvent[] | null>;
};

/** The value of `after` with which a caller begins. */
const START = 'start';
const UNKNOWN =
  'after is neither `start` nor the id of a stored event; after=start begins with the oldest stored event';

/** The routes of /v1/events. */
export const eventRoutes = (deps: EventRoutesDeps): Pick<Routes, keyof typeof EVENT_OPERATIONS> => ({
  listEvents: async ({ reader, res, query: { limit, cursor, after, wait, ...filter } }) => {
    if (after === undefined) {
      const find = (before: string | null, max: number) => deps.listEvents(reader, filter, before, max);
      return replyWithPage({ limit, cursor }, ['events', ownerOf(reader), filter], find, presentEvent);
    }
    const id = after === START ? null : uuidOf('event', after);
    if (id === null && after !== START) throw badRequest('after', UNKNOWN);
    const events = await deps.followEvents({
      ...{ reader, after: id, type: filter.type, limit, waitMs: wait * 1_000 },
      cancelled: goneOf(res),
    });
    if (events === null) throw badRequest('after', UNKNOWN);
    if (wait > 0) await callerAgain(res);
    const last = events.at(-1)?.id ?? id;
    return {
      status: 200,
      body: { data: events.map(presentEvent), last_event_id: last === null ? null : publicId('event', last) },
    };
  },

  getEvent: async ({ id, reader }) => ({ status: 200, body: presentEvent(found(await deps.findEvent(id, reader))) }),
});
