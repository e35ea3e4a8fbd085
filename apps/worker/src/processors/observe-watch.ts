import type { WatchRecord } from '@vat/db';
import {
  type Answer,
  type CheckRequest,
  newUuid,
  observeChanges,
  type RunningWatch,
  watchChangedBody,
} from '@vat/domain';

export type ObserveWatchDeps = { findRunningWatch: (requestId: string) => Promise<RunningWatch | null> };

/** A check on its way into the record. */
export type CheckOfRun = { id: string; request: Pick<CheckRequest, 'id'>; answer: Answer; now: Date };

/**
 * What the check of a watch's run changes, with an event for each change; undefined when the watch was deleted meanwhile.
 * What the watch remembers is changed by the end of its run alone, so what is read here holds until then: the statement
 * that writes it down looks whether the run is still the watch's.
 */
export const observeWatch =
  ({ findRunningWatch }: ObserveWatchDeps) =>
  async ({ id: checkId, request, answer, now }: CheckOfRun): Promise<WatchRecord | undefined> => {
    const watch = await findRunningWatch(request.id);
    if (!watch) return undefined;
    const { id: watchId, vatNumber, label } = watch;
    const seen = { valid: answer.verdict === 'valid', name: answer.name, address: answer.address };
    const changes = observeChanges({ valid: watch.lastValid, whenValid: watch.whenValid }, seen).map((change) => {
      const told = { ...change, watchId, vatNumber, label, checkId };
      return { ...told, id: newUuid(), eventId: newUuid(), deliveryId: newUuid(), body: watchChangedBody(told) };
    });
    return { watchId, checkId, checkedAt: new Date(answer.answeredAt), seen, changes, now };
  };
