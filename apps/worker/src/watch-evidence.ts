import type { EvidenceAge } from '@vat/db';
import { type Logger, type Metrics, throttledLog } from '@vat/runtime';

type WatchEvidenceDeps = {
  readAge: () => Promise<EvidenceAge>;
  /** ANCHOR_EVERY. */
  anchorEveryMs: number;
  metrics: Pick<Metrics, 'evidenceAge' | 'stampsPending'>;
  now: () => Date;
  log: Pick<Logger, 'error'>;
};

/** Shorter outages of an authority are normal; a longer one needs an operator. */
const STAMP_ALARM_MS = 3_600_000;
const ANCHOR_GRACE_MS = 600_000;
const REPEAT_MS = 600_000;
const STAMPS_PENDING = 'Time-stamps have been pending for too long.';

/** Measures how long evidence waits for its anchor and its time-stamps; logs an error when that is too long, at most every ten minutes. */
export const watchEvidence = ({ readAge, anchorEveryMs, metrics, now, log }: WatchEvidenceDeps) => {
  const alarm = (message: string) => throttledLog((fields) => log.error(message, fields), now, REPEAT_MS);
  const unanchored = alarm('Checks wait too long for an anchor.');
  const pendingOf = { check: alarm(STAMPS_PENDING), anchor: alarm(STAMPS_PENDING) };
  return async (): Promise<void> => {
    const { unanchoredSince, stamps } = await readAge();
    const ageOf = (since: Date | null) => (since === null ? 0 : now().getTime() - since.getTime());
    const unanchoredMs = ageOf(unanchoredSince);
    metrics.evidenceAge.set({ what: 'unanchored' }, unanchoredMs / 1_000);
    if (unanchoredMs > 2 * anchorEveryMs + ANCHOR_GRACE_MS) unanchored({ since: unanchoredSince?.toISOString() });
    for (const kind of ['check', 'anchor'] as const) {
      const { pending, since } = stamps[kind];
      metrics.stampsPending.set({ kind }, pending);
      metrics.evidenceAge.set({ what: `unstamped_${kind}` }, ageOf(since) / 1_000);
      if (ageOf(since) > STAMP_ALARM_MS) pendingOf[kind]({ kind, pending, since: since?.toISOString() });
    }
  };
};
