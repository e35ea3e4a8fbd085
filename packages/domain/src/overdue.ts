/** A job that is this late may be lost. */
const GRACE_MS = 5_000;
/** Later than the due time of any job. */
const FAR_FUTURE = new Date('9000-01-01T00:00:00.000Z');

/** What is due before this may have lost its job. `everything`: after a loss of Redis, when no job is certain to exist. */
export const overdueBefore = (everything: boolean, now: Date): Date =>
  everything ? FAR_FUTURE : new Date(now.getTime() - GRACE_MS);
