import type { EnrichmentSourceName, EnrichmentSubject, SourceFacts } from '@vat/domain';

/** One HTTP request to a source; `path` starts with `/` and follows the source's base URL, `json` is sent as POST. */
export type SourceRequest = { path: string; json?: unknown };

/** The pairs of an entry's `detail`, in this order; empty values are omitted. */
export type DetailPairs = readonly (readonly [key: string, value: string | number | boolean | null | undefined])[];

/** Facts as a definition reads them: what the source omits is null or absent. */
export type StatedFacts = { [Name in keyof SourceFacts]?: SourceFacts[Name] | null };

/** The meaning of a source's answer. `code` is the source's own code. */
export type SourceReading = {
  outcome: 'found' | 'not_found' | 'rejected' | 'blocked' | 'unavailable';
  code?: string;
  detail?: DetailPairs;
  facts?: StatedFacts;
  /** True when the source says the opposite of the verdict. */
  contradicts?: boolean;
};

/** The calendar day in a time zone, YYYY-MM-DD. */
export type Today = (timeZone: string) => string;

/** What a request may depend on besides its subject. */
type RequestContext = {
  today: Today;
  /** The source's {@link DailyList}; null when it has none or it could not be read. */
  list: readonly string[] | null;
};

/** A list that the source publishes and that a request depends on; each process reads it at most once a day. */
export type DailyList = {
  path: string;
  neededFor: (subject: EnrichmentSubject) => boolean;
  /** Null when the JSON is not that list. */
  read: (json: unknown) => readonly string[] | null;
};

/** A search for several subjects at once, with a daily limit. */
type SharedSearch = {
  /** The maximum of different numbers in one search. */
  size: number;
  /** The number to search; subjects with the same number count once. */
  numberOf: (subject: EnrichmentSubject) => string;
  createRequest: (numbers: readonly string[], today: Today) => SourceRequest;
  /** The time zone of the day in which the searches are counted. */
  timeZone: string;
};

/**
 * The properties of one national source. Calls, deadlines, circuit and failures are handled in the same way for all.
 */
export type SourceDefinition = {
  name: EnrichmentSourceName;
  /**
   * Scheme, host and an optional prefix, unless the setting ENRICHMENT_<NAME>_URL overrides it. The API's own path
   * follows as its authority publishes it.
   */
  url: string;
  /** The subject of a test request: a public body or a listed company, whose number is public. */
  sample?: Pick<EnrichmentSubject, 'memberState' | 'national'> & { name?: string };
  /** The `accept` header; plain JSON by default. */
  accept?: string;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  /** See `EnrichmentSource`. */
  usesRegisterId?: boolean;
  /** The request, or the reason why none is possible (the entry is then `skipped`). */
  createRequest: (subject: EnrichmentSubject, context: RequestContext) => SourceRequest | { skip: string };
  /** Reads the JSON of a 2xx answer; null when it has another shape than this source documents. */
  read: (json: unknown, subject: EnrichmentSubject, today: Today) => SourceReading | null;
  /** Reads the JSON of any other status; null means that the status decides. With a 5xx only `code` is used. */
  readRefusal?: (json: unknown, status: number, subject: EnrichmentSubject, today: Today) => SourceReading | null;
  dailyList?: DailyList;
  shared?: SharedSearch;
  /** Minimum milliseconds between the starts of two calls of the fleet, for a source with a rate limit. */
  gapMs?: number;
  /** Milliseconds without a call after consecutive failures; a minute by default. */
  failurePauseMs?: number;
};
