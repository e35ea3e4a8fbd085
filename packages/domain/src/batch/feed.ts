import { MEMBER_STATES } from '../member-states.js';
import type { DispatchQueue } from './batch.js';

/** Every lane in which lines of batches wait. */
export const DISPATCH_QUEUES = [...MEMBER_STATES, 'malformed'] as const satisfies readonly DispatchQueue[];

/**
 * How many requests of batches a member state has in Redis, over all accounts; the others wait as rows. Small, since a
 * line that is in Redis goes before those of an account that comes later: of A's thousands at most this many.
 */
export const LINES_IN_WINDOW = 12;

/** A window is filled again when no more than this are left in it: enough for both slots until the next ones are there. */
export const REFILL_AT = 6;

/** Answered lines whose national source is slow do not count as waiting for a slot, up to this many in all. */
export const MAX_DISPATCHED = 48;

/** A request of a batch that is not asked again for this long leaves Redis meanwhile. In milliseconds. */
export const SUSPEND_AFTER_MS = 2_000;

/** A request of a batch on its way into Redis. `rank`: its place among its account's, from 1; lower ranks go first. */
export type DispatchedLine = { id: string; rank: number };
