import type { WaitClass } from '../member-state-health.js';

/**
 * The place of a lookup in the queue of its member state, in lookups: it is `made so far + ahead + each × rank` at the time when
 * it is added, where rank counts the waiting lookups of the same account and class, from 1. So the k-th lookup of an account is
 * behind the first of every other; a class is behind another one only by the difference of `ahead`, and is reached after that
 * many however many lookups of other classes are added.
 */
export const TURN_PLACES: Readonly<Record<WaitClass, { ahead: number; each: number }>> = {
  interactive: { ahead: 0, each: 1 },
  background: { ahead: 3, each: 2 },
  batch: { ahead: 6, each: 2 },
  watch: { ahead: 9, each: 2 },
};
