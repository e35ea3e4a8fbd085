import type { SourceFacts } from './facts.js';

/** National registers asked after the verdict; they never change `valid`. */
export const ENRICHMENT_SOURCES = [
  'pl_white_list',
  'cz_ares',
  'ro_anaf',
  'fr_recherche_entreprises',
  'fi_prh',
  'de_evatr',
  'gleif',
] as const;
export type EnrichmentSourceName = (typeof ENRICHMENT_SOURCES)[number];

/** Everything a check's `checks` list can name as a source. */
export const CHECK_SOURCES = ['syntax', 'vies', 'vies_confirmation', ...ENRICHMENT_SOURCES] as const;
export type CheckSource = (typeof CHECK_SOURCES)[number];

/** What became of one source. */
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
  /** The upstream's own word, e.g. MS_MAX_CONCURRENT_REQ. */
  code?: string;
  /** Asks made for this entry; absent where nothing is asked (syntax). */
  attempts?: number;
  /** Present and true when the caller waited longer than BACKPRESSURE_AFTER for a slot. */
  backpressure?: true;
  started_at: string;
  duration_ms: number;
  /** One sentence or `key: value` pairs for a person; never machine-read. */
  detail?: string;
  /** What a register states. Absent where it states nothing, and for `syntax` and VIES. */
  facts?: SourceFacts;
  /** Present and true when the source says the opposite of the verdict; it never changes the verdict. */
  contradicts?: true;
};

/** `malformed` is decided without the upstream or by its INVALID_INPUT; the other two are the upstream's. */
export const VERDICTS = ['valid', 'invalid', 'malformed'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One ask, as it goes into the `checks` list. */
export type LookupRecord = {
  source: 'vies' | 'vies_confirmation';
  outcome: CheckOutcome;
  code: string | null;
  startedAt: Date;
  endedAt: Date;
  backpressure: boolean;
  detail: string | null;
};

/**
 * The `checks` list with one more ask in it. A source has one entry, whatever the number of its asks: `attempts` counts
 * them, the times span them, the outcome is the latest. A time-out after a saturated ask stays `saturated`, since the
 * caller is owed the reason rather than a bare time-out (contract part 1 §7, rule 2).
 */
export const recordLookup = (entries: readonly CheckEntry[], ask: LookupRecord): CheckEntry[] => {
  const earlier = entries.find((entry) => entry.source === ask.source);
  const keepsSaturation = ask.outcome === 'timeout' && earlier?.outcome === 'saturated';
  const startedAt = earlier?.started_at ?? ask.startedAt.toISOString();
  const code = keepsSaturation ? earlier?.code : ask.code;
  const detail = ask.detail ?? (keepsSaturation ? earlier?.detail : undefined);
  const entry: CheckEntry = {
    source: ask.source,
    outcome: keepsSaturation ? 'saturated' : ask.outcome,
    ...(code ? { code } : {}),
    attempts: (earlier?.attempts ?? 0) + 1,
    ...(ask.backpressure || earlier?.backpressure ? { backpressure: true as const } : {}),
    started_at: startedAt,
    duration_ms: Math.max(0, Math.round(ask.endedAt.getTime() - Date.parse(startedAt))),
    ...(detail ? { detail } : {}),
  };
  return [...entries.filter((other) => other.source !== ask.source), entry];
};
