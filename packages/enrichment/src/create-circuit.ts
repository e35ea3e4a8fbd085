/** Failures in a row after which a source is left alone. */
export const FAILURES_TO_PAUSE = 5;

/** How long it is then left alone, in milliseconds, unless the source's definition says otherwise. */
export const FAILURE_PAUSE_MS = 60_000;

/** Keeps checks from waiting for a source that is known to be down or that asked us to stop. */
type Circuit = {
  /** Null when a call may go out, otherwise why not, for a person. */
  refusal: () => string | null;
  /** The source answered, whatever it said. */
  answered: () => void;
  /** No usable answer. */
  failed: () => void;
  /** The source blocks us: no call for `ms` milliseconds. */
  blocked: (ms: number) => void;
};

/** A circuit of one source and one process. When a pause is over one call probes; the others wait for what it finds. */
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
      // A probe that is cancelled reports nothing; the moved end lets the next one through.
      pause = { ...pause, until: at + failurePauseMs };
      probing = true;
      return null;
    },
    answered: () => {
      failures = 0;
      // An answer to a call from before the pause says nothing about the source's mood since.
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
