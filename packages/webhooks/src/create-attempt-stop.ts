/**
 * How an attempt is ended from outside. One listens at a time: whoever works on the attempt. An `AbortController` each
 * would cost as much as the signatures.
 */
export type AttemptStop = {
  /** Ends the attempt; only the first reason counts. */
  stop: (reason: string) => void;
  /** Sets who is told, at once if it has been ended; null for nobody. */
  onStop: (listener: ((reason: string) => void) | null) => void;
};

export const createAttemptStop = (): AttemptStop => {
  let stopped: string | null = null;
  let listening: ((reason: string) => void) | null = null;
  return {
    stop: (reason) => {
      if (stopped !== null) return;
      stopped = reason;
      listening?.(reason);
    },
    onStop: (listener) => {
      listening = listener;
      if (stopped !== null) listener?.(stopped);
    },
  };
};
