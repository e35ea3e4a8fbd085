/** A difference below this is no fault of a clock: two clocks that are set by NTP differ by less, and so does a slow read. */
const TOLERANCE_MS = 500;
const MEASURE_EVERY_MS = 10_000;
/** Until the clocks were compared once, the own one is used, and may be wrong by months. */
const FIRST_EVERY_MS = 250;

type CorrectedClockDeps = {
  /** The time of the clock that all processes share. */
  readTime: () => Promise<Date>;
  /** Called when the own clock is found to differ from it, and when it no longer does (zero), in milliseconds. */
  onOffset: (offsetMs: number) => void;
  /** The own clock, in milliseconds since 1970. */
  ownTime?: () => number;
  measureEveryMs?: number;
  /** The clocks are compared from then on. A process that starts is so busy that a connection it opens first may time out. */
  after?: Promise<unknown>;
};

/** `measured` resolves when the clock was compared for the first time, or could not be. */
export type CorrectedClock = { now: () => Date; measured: Promise<void>; close: () => void };

/**
 * A clock that agrees with the one that all processes share, where the own one differs from it. Due times, windows and leases
 * are written by one process and read by another, so a machine whose clock is wrong would delay them or end them early. While
 * the shared clock cannot be read, the last difference stays in use. When the own clock is set, the time continues as before until
 * the clocks are compared again, which they are at once: some seconds of a wrong time would end all that has a due time.
 */
export const correctedClock = ({
  readTime,
  onOffset,
  ownTime = Date.now,
  measureEveryMs = MEASURE_EVERY_MS,
  after = Promise.resolve(),
}: CorrectedClockDeps): CorrectedClock => {
  let offsetMs = 0;
  let reportedMs = 0;
  /** How often the own clock was set, and the same when the clocks were compared last. */
  let [changes, compared] = [0, -1];
  let seen = { own: ownTime(), at: performance.now() };
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const readOwn = (): number => {
    const { own, at } = seen;
    seen = { own: ownTime(), at: performance.now() };
    const stepMs = seen.own - own - (seen.at - at);
    if (Math.abs(stepMs) >= TOLERANCE_MS) {
      offsetMs -= stepMs;
      changes += 1;
      if (timer !== undefined) schedule(0);
    }
    return seen.own;
  };
  const measure = async (): Promise<void> => {
    const before = readOwn();
    const begun = changes;
    const startedAt = performance.now();
    const shared = (await readTime()).getTime();
    const tookMs = performance.now() - startedAt;
    readOwn();
    if (changes !== begun) return;
    compared = changes;
    // The shared clock was read at some moment between sending and receiving.
    const difference = shared - (before + tookMs / 2);
    const measured = Math.abs(difference) - tookMs / 2 < TOLERANCE_MS ? 0 : Math.round(difference);
    if (Math.abs(measured - offsetMs) - tookMs / 2 >= TOLERANCE_MS || measured === 0) offsetMs = measured;
    if (Math.abs(measured - reportedMs) - tookMs / 2 < TOLERANCE_MS) return;
    reportedMs = measured;
    onOffset(reportedMs);
  };
  const repeat = async (): Promise<void> => {
    timer = undefined;
    await measure().catch(() => undefined);
    schedule(compared === changes ? measureEveryMs : Math.min(FIRST_EVERY_MS, measureEveryMs));
  };
  const schedule = (waitMs: number): void => {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void repeat(), waitMs);
  };
  return {
    now: () => new Date(readOwn() + offsetMs),
    measured: after.then(repeat),
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
};
