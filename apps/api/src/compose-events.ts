import { findEvent, findEventPosition, findNewestPositions, listEvents, listEventsAfter } from '@vat/db';
import { followEvents, type PageUpdate } from '@vat/domain';
import type { PageUpdateSubscription } from '@vat/queues';
import { throttledWarn } from '@vat/runtime';
import type { ApiContext } from './api-context.js';
import { eventWaits } from './event-waits.js';

/** Calls that wait for events at the same time. One that waits needs a connection and about a kilobyte. */
const WAIT_LIMITS = { perMode: 100, perProcess: 2_000 } as const;

/** Composes the list of events and the calls that follow it. */
export const composeEvents = (
  { db, log, stopping, now }: Pick<ApiContext, 'db' | 'log' | 'stopping' | 'now'>,
  subscribe: (onUpdates: (accountId: string, updates: PageUpdate[]) => void) => PageUpdateSubscription,
) => {
  const waits = eventWaits({
    subscribe,
    findNewestPositions: findNewestPositions(db),
    onReadFailure: throttledWarn(log, 'The events of waiting calls were not read.', now),
    stopping,
    limits: WAIT_LIMITS,
    now,
  });
  return {
    deps: {
      listEvents: listEvents(db),
      findEvent: findEvent(db),
      followEvents: followEvents({
        findPosition: findEventPosition(db),
        listAfter: listEventsAfter(db),
        awaitNewer: waits.awaitNewer,
        now,
      }),
    },
    close: waits.close,
  };
};
