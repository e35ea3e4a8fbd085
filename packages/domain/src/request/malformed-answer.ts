import type { CheckEntry } from '../check/entry.js';
import type { Answer } from './request.js';

/** The `syntax` entry every check begins with. `detail` says which form was missed, or that a checksum failed. */
export const syntaxEntry = (outcome: 'valid' | 'malformed', at: Date, detail: string | null): CheckEntry => ({
  source: 'syntax',
  outcome,
  started_at: at.toISOString(),
  duration_ms: 0,
  ...(detail === null ? {} : { detail }),
});

/** The answer to a number that does not fit its country's syntax: known without the upstream. */
export const malformedAnswer = (at: Date): Answer => ({
  verdict: 'malformed',
  name: null,
  address: null,
  consultationNumber: null,
  traderMatch: null,
  answeredAt: at.toISOString(),
});
