import type { CheckSource } from '../check-sources.js';
import type { SourceFacts } from './facts.js';

export const CHECK_OUTCOMES = [
  'valid',
  'invalid',
  'malformed',
  'saturated',
  'unavailable',
  'timeout',
  'rejected',
  'blocked',
  'found',
  'not_found',
  'skipped',
] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** One entry of a check's `checks` list, as it goes over the wire. Times are RFC 3339 UTC, durations whole milliseconds. */
export type CheckEntry = {
  source: CheckSource;
  outcome: CheckOutcome;
  /** The upstream's own code, e.g. MS_MAX_CONCURRENT_REQ. */
  code?: string;
  /** Lookups made for this entry; absent where no source is called (syntax). */
  attempts?: number;
  /** Present and true when the caller waited longer than BACKPRESSURE_AFTER for a slot. */
  backpressure?: true;
  started_at: string;
  duration_ms: number;
  /** One sentence or `key: value` pairs for a person, not for programs. */
  detail?: string;
  /** What a register states. Absent where it states nothing, and for `syntax` and VIES. */
  facts?: SourceFacts;
  /** Present and true when the source contradicts the verdict; it never changes the verdict. */
  contradicts?: true;
};

/** `malformed` is decided without the upstream or by its INVALID_INPUT; the other two are the upstream's. */
export const VERDICTS = ['valid', 'invalid', 'malformed'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One lookup to be added to the `checks` list. */
type LookupRecord = {
  source: 'vies' | 'vies_confirmation';
  outcome: CheckOutcome;
  code: string | null;
  startedAt: Date;
  endedAt: Date;
  backpressure: boolean;
  detail: string | null;
};

/**
 * The `checks` list with one more lookup in it. A source has one entry for all its lookups: `attempts` counts them, the
 * times span them, the outcome is the latest. A time-out after a saturated lookup stays `saturated`, because the caller
 * needs the reason.
 */
export const recordLookup = (entries: readonly CheckEntry[], lookup: LookupRecord): CheckEntry[] => {
  const earlier = entries.find((entry) => entry.source === lookup.source);
  const keepsSaturation = lookup.outcome === 'timeout' && earlier?.outcome === 'saturated';
  const startedAt = earlier?.started_at ?? lookup.startedAt.toISOString();
  const code = keepsSaturation ? earlier?.code : lookup.code;
  const detail = lookup.detail ?? (keepsSaturation ? earlier?.detail : undefined);
  const entry: CheckEntry = {
    source: lookup.source,
    outcome: keepsSaturation ? 'saturated' : lookup.outcome,
    ...(code ? { code } : {}),
    attempts: (earlier?.attempts ?? 0) + 1,
    ...(lookup.backpressure || earlier?.backpressure ? { backpressure: true as const } : {}),
    started_at: startedAt,
    duration_ms: Math.max(0, Math.round(lookup.endedAt.getTime() - Date.parse(startedAt))),
    ...(detail ? { detail } : {}),
  };
  return [...entries.filter((other) => other.source !== lookup.source), entry];
};
