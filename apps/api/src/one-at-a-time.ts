import { fewAtATime, type InTurn, type TurnLimits } from './few-at-a-time.js';

/**
 * Runs work of the same key one after the other. What would only wait for the same row lock waits here instead, where it
 * holds no database connection: when an outage ends many windows of one account at once, the calls of all others still
 * find a free one.
 */
export const oneAtATime = (limits?: TurnLimits): InTurn => fewAtATime(1, limits);
