/** Whole seconds from one moment to a later one, at least 1: a Retry-After. */
export const secondsUntil = (later: Date, at: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - at.getTime()) / 1_000));
