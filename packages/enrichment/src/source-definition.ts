import type { EnrichmentSourceName, EnrichmentSubject } from '@vat/domain';

/** One HTTP question to a source; `path` starts with `/` and goes behind the source's base URL, `json` is sent as POST. */
export type SourceQuestion = { path: string; json?: unknown };

/** What is named in an entry's `detail`, in this order; empty values are left out. */
export type SourceFacts = readonly (readonly [key: string, value: string | number | boolean | null | undefined])[];

/** What a source's own words mean. `code` is the source's own word for it. */
export type SourceReading = {
  outcome: 'found' | 'not_found' | 'rejected' | 'blocked' | 'unavailable';
  code?: string;
  facts?: SourceFacts;
};

/** All that sets one national source apart; calling, deadlines, circuit and failures are the same for all of them. */
export type SourceDefinition = {
  name: EnrichmentSourceName;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  /** The question, or why none can be asked (the entry is then `skipped`). `today` gives YYYY-MM-DD in a time zone. */
  ask: (subject: EnrichmentSubject, today: (timeZone: string) => string) => SourceQuestion | { skip: string };
  /** Reads the JSON of a 2xx answer; null where it is not what this source says. */
  read: (json: unknown, subject: EnrichmentSubject) => SourceReading | null;
  /** Reads the JSON of any other status; null leaves it to the status. Under a 5xx only `code` is believed. */
  readRefusal?: (json: unknown, status: number, subject: EnrichmentSubject) => SourceReading | null;
  /** Least milliseconds between the starts of two calls of this process, where the source asks for it. */
  gapMs?: number;
  /** Milliseconds without a call after the source blocked us; a minute where it is not given. */
  blockedPauseMs?: number;
};
