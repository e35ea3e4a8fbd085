import { MEMBER_STATES } from '../member-states.js';
import type { DispatchQueue } from './batch.js';

/** Every queue in which lines of batches wait. */
export const DISPATCH_QUEUES = [...MEMBER_STATES, 'malformed'] as const satisfies readonly DispatchQueue[];

/**
 * How many requests of batches a member state has in Redis, over all accounts; the others wait as rows. Small, because lines
 * in Redis are looked up before those of an account that uploads later.
 */
export const LINES_IN_WINDOW = 12;

/** A window is refilled when at most this many are left: enough for both slots until the next lines arrive. */
export const REFILL_AT = 6;

/** Answered lines whose national source is slow do not count as waiting for a slot, up to this many in all. */
export const MAX_DISPATCHED = 48;

/** A request of a batch leaves Redis when its next lookup is further off than this. In milliseconds. */
export const SUSPEND_AFTER_MS = 2_000;

/** A request of a batch to be enqueued. `rank`: its position among its account's, from 1; lower ranks go first. */
export type DispatchedLine = { id: string; rank: number };
