import type { OverdueRequest } from '../request/ports.js';
import type { DueWatch } from './run.js';

/** The request of a run that has just been started, as its job is made: pending, unanswered, due now. */
export const toAsk = (id: string, { memberState }: Pick<DueWatch, 'memberState'>, dueAt: Date): OverdueRequest => ({
  id,
  test: false,
  origin: 'watch',
  memberState,
  pending: true,
  answered: false,
  dueAt,
});
