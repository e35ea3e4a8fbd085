/** How many calls of one key are admitted in any window. */
export type RateLimit = {
  calls: number;
  windowMs: number;
  /**
   * A call that comes this little too early is held and then admitted, not refused: a caller that keeps exactly to the
   * limit arrives a few milliseconds early every other time, and must never be refused.
   */
  holdMs: number;
};

/** `waitMs`: until an admitted call may go on, or until a refused one is worth repeating. */
export type RateDecision = { admitted: boolean; waitMs: number; remaining: number };
