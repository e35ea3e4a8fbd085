import type { EnrichmentSourceName, EnrichmentSubject, SourceFacts } from '@vat/domain';

/** One HTTP question to a source; `path` starts with `/` and goes behind the source's base URL, `json` is sent as POST. */
export type SourceQuestion = { path: string; json?: unknown };

/** What is named in an entry's `detail`, in this order; empty values are left out. */
export type DetailPairs = readonly (readonly [key: string, value: string | number | boolean | null | undefined])[];

/** Facts as a definition reads them: what the source leaves out is null or absent. */
export type StatedFacts = { [Name in keyof SourceFacts]?: SourceFacts[Name] | null };

/** What a source's own words mean. `code` is the source's own word for it. */
export type SourceReading = {
  outcome: 'found' | 'not_found' | 'rejected' | 'blocked' | 'unavailable';
  code?: string;
  detail?: DetailPairs;
  facts?: StatedFacts;
  /** True when the source says the opposite of the verdict. */
  contradicts?: boolean;
};

/** What a question may depend on besides its subject. */
type QuestionContext = {
  /** YYYY-MM-DD in a time zone. */
  today: (timeZone: string) => string;
  /** The source's {@link DailyList}; null where it has none or could not be read. */
  list: readonly string[] | null;
};

/** A list that the source publishes and a question depends on; read at most once a day and process. */
export type DailyList = {
  path: string;
  neededFor: (subject: EnrichmentSubject) => boolean;
  /** Null where the JSON is not that list. */
  read: (json: unknown) => readonly string[] | null;
};

/** A search that takes several subjects at once and of which a day has only so many. */
type SharedSearch = {
  /** Subjects that one search takes. */
  size: number;
  /** The number that is searched; two subjects with the same one need only one place. */
  numberOf: (subject: EnrichmentSubject) => string;
  ask: (numbers: readonly string[], today: QuestionContext['today']) => SourceQuestion;
  /** The time zone of the day that the searches are counted in. */
  timeZone: string;
};

/** All that sets one national source apart; calling, deadlines, circuit and failures are the same for all of them. */
export type SourceDefinition = {
  name: EnrichmentSourceName;
  /** The media type that is asked for; plain JSON unless given. */
  accept?: string;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  /** See `EnrichmentSource`. */
  usesRegisterId?: boolean;
  /** The question, or why none can be asked (the entry is then `skipped`). */
  ask: (subject: EnrichmentSubject, context: QuestionContext) => SourceQuestion | { skip: string };
  /** Reads the JSON of a 2xx answer; null where it is not what this source says. */
  read: (json: unknown, subject: EnrichmentSubject) => SourceReading | null;
  /** Reads the JSON of any other status; null leaves it to the status. Under a 5xx only `code` is believed. */
  readRefusal?: (json: unknown, status: number, subject: EnrichmentSubject) => SourceReading | null;
  dailyList?: DailyList;
  shared?: SharedSearch;
  /** Least milliseconds between the starts of two calls of this process, where the source asks for it. */
  gapMs?: number;
  /** Milliseconds without a call after failures in a row; a minute where it is not given. */
  failurePauseMs?: number;
};
