import { type EvidenceAge, findDevelopmentIdentity, pinTimestampRoot, storeDevelopmentIdentity } from '@vat/db';
import { type MakeStampDeps, userAgentOf } from '@vat/domain';
import { createTimestamper, domainStamper, openDevelopmentAuthority } from '@vat/evidence/proof';
import { type Logger, type Metrics, SettingsError, type Stoppable, throttledLog } from '@vat/runtime';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** Opens the time-stamping client for the domain. Throws SettingsError when TSA_ROOTS holds no certificate, or lacks a required one. */
export const openTimestamper = ({
  settings,
  db,
  log,
  now,
}: WorkerContext): { stamper: Pick<MakeStampDeps, 'stamp' | 'reasonOf'>; part: Stoppable } => {
  const development = openDevelopmentAuthority({
    find: findDevelopmentIdentity(db),
    store: storeDevelopmentIdentity(db),
    masterKey: settings.SECRET_KEY,
    previousKey: settings.SECRET_KEY_PREVIOUS,
    now,
  });
  const open = () => {
    try {
      const trustedRoots = settings.TSA_ROOTS === undefined ? undefined : [settings.TSA_ROOTS];
      return createTimestamper({
        ...{ url: settings.TSA_URL ?? null, development, now, trustedRoots, hash: settings.TSA_HASH },
        userAgent: userAgentOf(settings.CONTACT_URL),
        pinning: {
          pin: pinTimestampRoot(db),
          onOtherRoot: throttledLog(
            (fields) => log.error('The time-stamping authority presents a root other than the pinned one.', fields),
            REPEAT_WARNING_MS,
            now,
          ),
        },
      });
    } catch (error) {
      throw new SettingsError(`TSA_ROOTS: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  const timestamper = open();
  return {
    stamper: domainStamper(timestamper),
    part: { name: 'time-stamps', stop: async () => timestamper.close() },
  };
};

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
  const alarm = (message: string) => throttledLog((fields) => log.error(message, fields), REPEAT_MS, now);
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
