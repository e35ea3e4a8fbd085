import { type MadeStamp, type PublishChange, publicId } from '@vat/domain';
import { TimestampRefused } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import type { Logger, Metrics } from '@vat/runtime';

type MakeTimeStampDeps = {
  makeStamp: (subjectId: string, signal: AbortSignal) => Promise<MadeStamp>;
  /** Aborts when a stopping worker calls off what it still asks. */
  cut: AbortSignal;
  metrics: Pick<Metrics, 'stampTries'>;
  /** Told of a failed try; says so now and then. */
  onFailure: (error: Error, fields: Record<string, unknown>) => void;
  publishChange: PublishChange;
  log: Logger;
};

/** Tries once for a time-stamp. A failed one comes back when its row says. */
export const makeTimeStamp =
  ({
    makeStamp,
    cut,
    metrics,
    onFailure,
    publishChange,
    log,
  }: MakeTimeStampDeps): JobHandler<{ task: 'stamp'; subject_id: string }> =>
  async ({ subject_id: subjectId }) => {
    const startedAt = performance.now();
    let made: MadeStamp;
    try {
      made = await makeStamp(subjectId, cut);
    } catch (error) {
      if (error instanceof TimestampRefused && cut.aborted) return { again: new Date() };
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
