/** Consecutive failures after which a source is paused. */
export const FAILURES_TO_PAUSE = 5;

/** Length of the pause in milliseconds, unless the source's definition has its own. */
export const FAILURE_PAUSE_MS = 60_000;

/** Prevents checks from waiting for a source that is known to be down or that blocks this service. */
type Circuit = {
  /** Null when a call is permitted, otherwise the reason as text for a person. */
  refusal: () => string | null;
  /** Records a usable answer, whatever its content. */
  answered: () => void;
  /** Records a call without a usable answer. */
  failed: () => void;
  /** Records that the source blocks this service: no call for `ms` milliseconds. */
  blocked: (ms: number) => void;
};

/**
 * The circuit of one source in one process. After a pause one call probes the source; others are refused until it
 * ends.
 */
export const createCircuit = ({
  now,
  failurePauseMs = FAILURE_PAUSE_MS,
}: {
  now: () => Date;
  failurePauseMs?: number | undefined;
}): Circuit => {
  let failures = 0;
  let pause: { until: number; why: string } | null = null;
  let probing = false;

  const pauseFor = (ms: number, why: string) => {
    pause = { until: now().getTime() + ms, why };
    probing = false;
  };

  return {
    refusal: () => {
      if (pause === null) return null;
      const at = now().getTime();
      if (at < pause.until) return `${pause.why}, next try after ${new Date(pause.until).toISOString()}`;
      // A cancelled probe reports no result; the extended pause permits the next one.
      pause = { ...pause, until: at + failurePauseMs };
      probing = true;
      return null;
    },
    answered: () => {
      failures = 0;
      // An answer to a call from before the pause does not show that the source has recovered.
      if (!probing) return;
      pause = null;
      probing = false;
    },
    failed: () => {
      failures += 1;
      if (probing || failures >= FAILURES_TO_PAUSE) {
        pauseFor(failurePauseMs, `paused after ${failures} failures in a row`);
      }
    },
    blocked: (ms) => pauseFor(ms, 'paused because the source blocks us'),
  };
};
