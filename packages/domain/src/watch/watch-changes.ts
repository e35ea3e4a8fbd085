import { PLANS, type Plan } from '../account/account.js';
import type { Change } from '../delivery/event-bodies.js';
import { AppError } from '../errors.js';
import { nextAfterMiss, nextCheckAt } from './run-watch.js';
import { sellsFrequency, type Watch } from './watch.js';

/** The fields that a call changes; absent ones stay. A label of null is removed. */
type WatchAmendment = {
  label?: string | null | undefined;
  frequency?: Watch['frequency'] | undefined;
  status?: Watch['state'] | undefined;
};

/** The account's plan and, for a paused watch, how many of its watches are active. */
type AmendedBy = { plan: Plan; active: number | null };

/** When the amended watch is due. A watch whose due time passed during a pause is due at once. */
const dueAfter = (watch: Watch, frequency: Watch['frequency'], resumed: boolean, now: Date): Date => {
  // Before its first check a watch is due soon at any frequency.
  if (frequency !== watch.frequency && (watch.lastCheckedAt !== null || watch.requestId !== null)) {
    const isIdle = watch.requestId === null;
    const next = nextCheckAt(watch.id, frequency, isIdle ? (watch.lastCheckedAt ?? now) : now, now);
    // A watch whose last run had no answer is tried every day, also when it becomes weekly.
    return isIdle && watch.missedSince !== null ? nextAfterMiss(next, now) : next;
  }
  return resumed && watch.nextCheckAt < now ? now : watch.nextCheckAt;
};

/**
 * The watch after a PATCH. A requested frequency and a resumed watch are checked against the plan like a new watch; pausing
 * and labelling always work. An account whose plan became smaller retains its watches, so resuming counts the active ones.
 * Throws FREQUENCY_NOT_ALLOWED, then WATCH_LIMIT.
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

export type Observation = { valid: boolean; name: string | null; address: string | null };

/** What a watch stores of its earlier answers: the last verdict, and name and address of the last valid one. */
export type Remembered = { valid: boolean | null; whenValid: { name: string | null; address: string | null } | null };

/**
 * The changes between the stored answers of a watch and a new answer, in the order in which they are published. The first
 * answer is the baseline. Name and address are compared between valid answers only, also across invalid ones: becoming
 * invalid is one change, and becoming valid again under another name is reported.
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
