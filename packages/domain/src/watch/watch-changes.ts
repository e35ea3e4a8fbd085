import { PLANS, type Plan } from '../account/account.js';
import { AppError } from '../errors.js';
import { nextCheckAt } from './run-watch.js';
import { type Change, sellsFrequency, type Watch } from './watch.js';

/** What a call wants to be different; what is absent stays. A label of null is taken away. */
export type WatchAmendment = {
  label?: string | null | undefined;
  frequency?: Watch['frequency'] | undefined;
  status?: Watch['state'] | undefined;
};

/** The account as the amendment is judged: its plan and, for a watch that is paused, how many of its watches are active. */
export type AmendedBy = { plan: Plan; active: number | null };

/** When the watch is due once it is amended. A due time that passed during a pause is made good at once. */
const dueAfter = (watch: Watch, frequency: Watch['frequency'], resumed: boolean, now: Date): Date => {
  // Before its baseline a watch is due soon, whatever its frequency.
  if (frequency !== watch.frequency && (watch.lastCheckedAt !== null || watch.requestId !== null)) {
    return nextCheckAt(watch.id, frequency, watch.requestId === null ? (watch.lastCheckedAt ?? now) : now, now);
  }
  return resumed && watch.nextCheckAt < now ? now : watch.nextCheckAt;
};

/**
 * The watch as a PATCH leaves it. A frequency that is asked for, and a watch that is resumed, are judged by the plan as a
 * new watch is; pausing and labelling always work. An account whose plan became smaller keeps what it has, so resuming
 * counts the active ones.
 * Throws FREQUENCY_NOT_ALLOWED, then WATCH_LIMIT. Source: contract part 2 §6.
 */
export const amendWatch = (watch: Watch, amendment: WatchAmendment, by: AmendedBy, now: Date): Watch => {
  const frequency = amendment.frequency ?? watch.frequency;
  const state = amendment.status ?? watch.state;
  const resumed = state === 'active' && watch.state === 'paused';
  if ((resumed || amendment.frequency !== undefined) && !sellsFrequency(by.plan, frequency))
    throw new AppError('FREQUENCY_NOT_ALLOWED');
  const limit = PLANS[by.plan].watches;
  if (resumed && (by.active ?? 0) >= limit) throw new AppError('WATCH_LIMIT', { extra: { limit } });
  return {
    ...watch,
    label: amendment.label === undefined ? watch.label : amendment.label,
    frequency,
    state,
    nextCheckAt: dueAfter(watch, frequency, resumed, now),
  };
};

/** What an answer says about a number. */
export type Observation = { valid: boolean; name: string | null; address: string | null };

/** What a watch remembers of its earlier answers: the last verdict, and name and address of the last valid one. */
export type Remembered = { valid: boolean | null; whenValid: { name: string | null; address: string | null } | null };

/**
 * The changes between what a watch remembers and an answer, in the order in which they are told. The first answer is the
 * baseline. Name and address are compared between valid answers alone, however many invalid ones lie between them: so
 * becoming invalid is one change, and coming back under another name is told. Source: contract part 2 §6.
 */
export const observeChanges = (before: Remembered, seen: Observation): Change[] => {
  if (before.valid === null) return [];
  const changes: Change[] = [];
  if (before.valid !== seen.valid) changes.push({ kind: 'validity', before: before.valid, after: seen.valid });
  if (!seen.valid || before.whenValid === null) return changes;
  for (const kind of ['name', 'address'] as const) {
    if (before.whenValid[kind] !== seen[kind])
      changes.push({ kind, before: before.whenValid[kind], after: seen[kind] });
  }
  return changes;
};
