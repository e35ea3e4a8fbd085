import { z } from 'zod';
import { EVENTS, eventListQuery, eventSchema, followedSchema } from './event.js';
import { listOf } from './lists.js';
import { type Operation, ok } from './operation.js';

const eventExample = {
  event_id: 'evt_01kafksw1se0a9v6n3r4t7y1bb',
  type: 'batch.completed',
  created_at: '2026-11-20T10:00:50.120Z',
  body: EVENTS['batch.completed'].example,
};

/** The operations of events. */
export const EVENT_OPERATIONS = {
  listEvents: {
    method: 'get',
    path: '/v1/events',
    dashboard: false,
    tag: 'Events',
    summary: 'List events, or follow them',
    description:
      'Without `after` a list, newest first, with `next_cursor`. With `after` the events after that one, oldest first, with `last_event_id`; `wait` holds the call until there is one. Who continues with `last_event_id` each time misses no event and gets none twice.',
    query: eventListQuery,
    success: ok('A page of the list, or the events after one.', z.union([listOf(eventSchema), followedSchema]), {
      data: [eventExample],
      last_event_id: eventExample.event_id,
    }),
  },
  getEvent: {
    method: 'get',
    path: '/v1/events/{id}',
    dashboard: false,
    tag: 'Events',
    summary: 'Get an event',
    id: 'event',
    success: ok('The event.', eventSchema, eventExample),
  },
} as const satisfies Record<string, Operation>;
