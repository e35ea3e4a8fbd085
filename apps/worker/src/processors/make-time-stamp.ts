import { type MadeStamp, type PublishChange, publicId } from '@vat/domain';
import { TimestampRefused } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import type { Logger, Metrics } from '@vat/runtime';

type MakeTimeStampDeps = {
  makeStamp: (subjectId: string, signal: AbortSignal) => Promise<MadeStamp>;
  /** Aborts when a stopping worker no longer waits for open requests. */
  abort: AbortSignal;
  metrics: Pick<Metrics, 'stampTries'>;
  /** Called for every failed attempt; throttled by the caller. */
  onFailure: (error: Error, fields: Record<string, unknown>) => void;
  publishChange: PublishChange;
  log: Logger;
};

/** Makes one attempt at a time-stamp. After a failure the job runs again at the time that the row states. */
export const makeTimeStamp =
  ({
    makeStamp,
    abort,
    metrics,
    onFailure,
    publishChange,
    log,
  }: MakeTimeStampDeps): JobHandler<{ task: 'stamp'; subject_id: string }> =>
  async ({ subject_id: subjectId }) => {
    const startedAt = performance.now();
    let made: MadeStamp;
    try {
      made = await makeStamp(subjectId, abort);
    } catch (error) {
      if (error instanceof TimestampRefused && abort.aborted) return { again: new Date() };
      throw error;
    }
    if (made.kind === 'gone') return undefined;
    metrics.stampTries.observe({ outcome: made.kind }, (performance.now() - startedAt) / 1_000);
    const { kind, accountId, attempts } = made.stamp;
    if (made.kind === 'stamped') {
      log.info('A time-stamp was made.', { subject: subjectId, kind, attempts: attempts + 1 });
      if (accountId !== null) publishChange(accountId, 'checks', publicId('check', subjectId));
      return undefined;
    }
    onFailure(new Error(made.error), { subject: subjectId, kind, attempts });
    return { again: made.nextAttemptAt };
  };
