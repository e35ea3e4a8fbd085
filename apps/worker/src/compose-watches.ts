import { findDueWatches, startRun } from '@vat/db';
import { MEMBER_STATES, startDueWatches } from '@vat/domain';
import { enqueueOverdue, type JobHandler, type Payload } from '@vat/queues';
import { errorFields } from '@vat/runtime';
import type { WorkerContext } from './worker-context.js';

/** The job that starts the runs of due watches. */
export const composeWatches = (context: WorkerContext, stopping: AbortSignal) => {
  const { log, now, metrics, db, producer, publishChange } = context;
  const start = startDueWatches({
    findDue: findDueWatches(db)(MEMBER_STATES),
    startRun: startRun(db),
    enqueue: enqueueOverdue(producer),
    onEnqueueFailure: (error) =>
      log.warn('Runs of watches were not enqueued; the sweep will enqueue them.', errorFields(error)),
    publishChange,
    stopping,
    now,
  });
  const watches: JobHandler<Payload<'watches'>> = async () => {
    const started = await start();
    for (const [outcome, n] of Object.entries(started)) if (n > 0) metrics.watchRuns.inc({ outcome }, n);
    if (Object.values(started).some((n) => n > 0)) log.info('Started the runs of due watches.', started);
    return undefined;
  };
  return { watches };
};
