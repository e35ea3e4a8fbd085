import { watchChangedBody } from '../delivery/event-bodies.js';
import { uuidsAt } from '../ids.js';
import type { ObserveWatch } from '../request/record-check.js';
import type { RunningWatch } from './watch.js';
import { observeChanges } from './watch-changes.js';

/** Port: the watch whose run a request is; null when the watch was deleted. */
export type FindRunningWatch = (requestId: string) => Promise<RunningWatch | null>;

/**
 * Compares the check of a run with the stored answers of its watch. Undefined when the watch was deleted meanwhile. Only the
 * end of a run changes the stored answers, and the statement that writes the record verifies that the run is still the
 * watch's, so the comparison is not stale.
 */
export const observeWatch =
  (findRunningWatch: FindRunningWatch): ObserveWatch =>
  async ({ id: checkId, requestId, answer, now }) => {
    const watch = await findRunningWatch(requestId);
    if (!watch) return undefined;
    const { id: watchId, vatNumber, label } = watch;
    const newId = uuidsAt(now);
    const seen = { valid: answer.verdict === 'valid', name: answer.name, address: answer.address };
    const changes = observeChanges({ valid: watch.lastValid, whenValid: watch.whenValid }, seen).map((change) => {
      const observed = { ...change, watchId, vatNumber, label, checkId };
      return {
        ...observed,
        id: newId(),
        eventId: newId(),
        deliveryId: newId(),
        body: watchChangedBody(observed),
      };
    });
    return { watchId, checkId, checkedAt: new Date(answer.answeredAt), seen, changes, now };
  };
