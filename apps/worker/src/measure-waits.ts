import type { readWaits } from '@vat/db';
import type { Metrics } from '@vat/runtime';

/** The waits are read at most once in this time, however often the metrics are. */
const CACHE_MS = 5_000;

type MeasureWaitsDeps = {
  readWaits: ReturnType<typeof readWaits>;
  metrics: Pick<Metrics, 'oldestWaits'>;
  now: () => Date;
};

/**
 * Measures how long the oldest requests have waited for a lookup. Without Postgres nothing is known about the waits, and an old value
 * would mislead.
 */
export const measureWaits = ({ readWaits, metrics, now }: MeasureWaitsDeps) => {
  let readAt = 0;
  return async (): Promise<void> => {
    const at = now();
    // The difference is negative when the clock was set back. The old values would stay until it has caught up.
    if (Math.abs(at.getTime() - readAt) < CACHE_MS) return;
    readAt = at.getTime();
    const found = await readWaits(at, 1).catch(() => []);
    metrics.oldestWaits.reset();
    for (const { memberState, class: name, dispatched, oldestDueAt } of found) {
      const labels = { queue: dispatched ? 'upstream' : 'batches', class: name, member_state: memberState };
      metrics.oldestWaits.set(labels, Math.max(0, at.getTime() - oldestDueAt.getTime()) / 1_000);
    }
  };
};
