/** Prevents calls to an upstream that is known to be down or that blocks this service. */
type Circuit = {
  /** Null when a call is permitted, otherwise the reason as text for a person. */
  refusal: () => string | null;
  /** Records a usable answer, whatever its content. */
  answered: () => void;
  /** Records a call without a usable answer. */
  failed: () => void;
  /** Records a call that the caller aborted or did not make, which says nothing about the upstream. */
  aborted: () => void;
  /** Records that the upstream blocks this service: no call for `ms` milliseconds. */
  blocked: (ms?: number) => void;
};

type CircuitOptions = {
  now: () => Date;
  /** Consecutive failures after which the upstream is paused. */
  failures?: number | undefined;
  /** Milliseconds of the pause. */
  pauseMs?: number | undefined;
};

/**
 * The circuit of one upstream in one process. After a pause one call at a time tries the upstream; others are refused
 * until it ends, or for another pause.
 */
export const createCircuit = ({ now, failures: maxFailures = 5, pauseMs = 60_000 }: CircuitOptions): Circuit => {
  let failures = 0;
  let pause: { until: number; ms: number; why: string } | null = null;
  let trying = false;

  const pauseFor = (ms: number, why: string) => {
    pause = { until: now().getTime() + ms, ms, why };
    trying = false;
  };

  return {
    refusal: () => {
      if (pause === null) return null;
      const at = now().getTime();
      // More is left than the whole pause only if the clock was set back.
      if (at < pause.until && pause.until - at <= pause.ms)
        return `${pause.why}, next try after ${new Date(pause.until).toISOString()}`;
      pause = { ...pause, until: at + pauseMs, ms: pauseMs };
      trying = true;
      return null;
    },
    answered: () => {
      failures = 0;
      // An answer to a call from before the pause does not show that the upstream has recovered.
      if (!trying) return;
      pause = null;
      trying = false;
    },
    failed: () => {
      failures += 1;
      if (trying || failures >= maxFailures) pauseFor(pauseMs, `paused after ${failures} failures in a row`);
    },
    aborted: () => {
      if (trying && pause) pauseFor(0, pause.why);
    },
    blocked: (ms = pauseMs) => pauseFor(ms, 'paused because the source blocks us'),
  };
};

/**
 * Spaces the calls of one process: each reserved call starts at least `gapMs` after the previous one. Returns the
 * milliseconds to wait, or null (without a reservation) when that would be longer than `maxWaitMs`.
 */
export const createPace = ({ gapMs }: { gapMs: number }): ((maxWaitMs: number) => number | null) => {
  let nextFreeAt = 0;
  return (maxWaitMs) => {
    // The monotonic clock, because a change of the wall clock must neither bunch nor delay the calls.
    const at = performance.now();
    const startAt = Math.max(at, nextFreeAt);
    if (startAt - at > maxWaitMs) return null;
    nextFreeAt = startAt + gapMs;
    return startAt - at;
  };
};
