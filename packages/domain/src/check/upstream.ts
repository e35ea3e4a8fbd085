import type { CheckSource, EnrichmentSourceName } from '../check-sources.js';
import type { MemberState } from '../member-states.js';
import type { Trader, TraderMatch } from '../trader.js';
import type { CheckEntry, Verdict } from './entry.js';

/** A number split as VIES expects it. */
export type SplitVatNumber = { memberState: MemberState; national: string };

/** The input of one lookup. */
export type LookupSubject = SplitVatNumber & {
  requester: SplitVatNumber | null;
  trader: Trader | null;
};

/** The upstream stated whether the number is valid. The only kind of outcome that may become `valid: true|false`. */
export type LookupVerdict = {
  kind: 'verdict';
  valid: boolean;
  name: string | null;
  address: string | null;
  consultationNumber: string | null;
  traderMatch: TraderMatch | null;
};

/**
 * An answer of the upstream, stored on the request until its check is recorded. JSON-safe. `numberAlone` marks an
 * INVALID_INPUT whose lookup carried the number and nothing else; releases before it existed stored INVALID_INPUT
 * without it, also where trader details had been sent.
 */
export type Answer = Omit<LookupVerdict, 'kind' | 'valid'> & {
  verdict: Verdict;
  /** RFC 3339: when the upstream's answer was complete. */
  answeredAt: string;
  numberAlone?: true;
};

/**
 * The upstream understood the lookup and refused it; `decideLookup` states when that is believed. `upstreamCode` is the
 * upstream's own code where it differs from `code`, e.g. VOW-ERR-2600 for INVALID_INPUT.
 */
export type LookupRejected = {
  kind: 'rejected';
  code: 'INVALID_INPUT' | 'INVALID_REQUESTER_INFO';
  upstreamCode?: string;
};

/** No answer: never a verdict, always retried until the request is abandoned. */
export type LookupNoAnswer = {
  kind: 'no_answer';
  outcome: 'saturated' | 'unavailable' | 'timeout' | 'blocked';
  /** The upstream's code (`…_TIME` variants folded into their base), or null where there was none. */
  code: string | null;
  /** For saturation: which lookups to slow down. */
  scope: 'global' | 'member_state' | null;
  /** A description for a person: "HTTP 503", "connection reset", "HTML instead of JSON". */
  detail: string | null;
};

/**
 * A `Retry-After` of the upstream, bounded to {@link MAX_RETRY_AFTER_MS}. `scope` names the lookups that wait: those of every
 * member state, of the one that was looked up, or only the next lookup of the same request.
 */
export type RetryAfter = { ms: number; scope: 'global' | 'member_state' | 'request' };

/** Upper bound of the upstream's Retry-After; longer ones are cut to it. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** VIES's code for a request without a mandatory field: a fault of this service. */
export const MISSING_FIELD_CODE = 'VOW-ERR-11';

export type LookupOutcome = (LookupVerdict | LookupRejected | LookupNoAnswer) & { retryAfter?: RetryAfter };

/** True when an operator must act: the upstream blocks this service, or reports its requests as incomplete. */
export const needsOperator = (outcome: LookupOutcome): outcome is LookupNoAnswer =>
  outcome.kind === 'no_answer' && (outcome.outcome === 'blocked' || outcome.code === MISSING_FIELD_CODE);

/** One HTTP exchange, stored byte for byte as evidence. */
export type Exchange = {
  source: CheckSource;
  startedAt: Date;
  /** Whole milliseconds from the first byte sent to the last byte read or the failure. */
  durationMs: number;
  request: { method: string; url: string; headers: Record<string, string>; body: Uint8Array };
  /** `null` where no status line arrived. `complete` is false when the body was cut (reset, deadline or byte cap). */
  response: { status: number; headers: Record<string, string>; body: Uint8Array; complete: boolean } | null;
  /** Error class and message where the exchange failed; null on a complete response. */
  error: string | null;
};

/** Port: looks a number up once. Never throws and never takes longer than the attempt time-out. */
export type CallUpstream = (
  lookup: LookupSubject,
  signal?: AbortSignal,
) => Promise<{ outcome: LookupOutcome; exchange: Exchange }>;

/** The input of an enrichment source. */
export type EnrichmentSubject = SplitVatNumber & {
  valid: boolean;
  name: string | null;
  address: string | null;
  requester: SplitVatNumber | null;
  /** As the caller gave it. */
  trader: Trader | null;
  /** The number in a national register, when a source called before found it. */
  registerId: string | null;
  /** The account whose evidence the exchange becomes. Subjects of two accounts never share an exchange: each account would
   * read the other's numbers. */
  accountId: string;
  /** Whether a caller waits for this check now. */
  callerWaits: boolean;
};

/** What a source found, as an entry for the check and the exchange that proves it (null when nothing was sent). */
export type EnrichmentFinding = { entry: CheckEntry; exchange: Exchange | null };

/** Port: one national register. `consult` never throws and ends by its own deadline or when `signal` aborts. */
export type EnrichmentSource = {
  name: EnrichmentSourceName;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  /** True for a source that searches by `registerId`: it is called after the others. */
  usesRegisterId?: boolean;
  consult: (subject: EnrichmentSubject, signal?: AbortSignal) => Promise<EnrichmentFinding>;
};

/**
 * `exhausted`: the day's searches are used up, or those left are kept for other accounts. `blocked`: the source refuses this
 * service for the rest of the day.
 */
export type SearchPermit = 'taken' | 'exhausted' | 'blocked';

/**
 * Port: how many searches of a source the whole fleet makes in one calendar day (YYYY-MM-DD, of the source's time zone).
 *
 * Accounts share them: each that searched lately has an equal share. Beyond its share an account gets what the others are not
 * expected to need: of each of them as many as it requested on its last day are kept, up to its share.
 */
export type SearchBudget = {
  /**
   * Takes one search out of `limit` for an account, or for the operator (null). Atomic over the fleet; rejects when the count
   * cannot be read.
   */
  take: (search: {
    source: EnrichmentSourceName;
    day: string;
    limit: number;
    accountId: string | null;
  }) => Promise<SearchPermit>;
  /** Stops all searches of that day. */
  block: (source: EnrichmentSourceName, day: string) => Promise<void>;
};

/**
 * Port: reserves the start of one call to a source over the whole fleet, at least `gapMs` after the start before it. The
 * milliseconds until then, or null, with nothing reserved, when they would be more than `maxWaitMs`. Rejects when the other
 * processes cannot be reached.
 */
export type ReserveCall = (
  source: EnrichmentSourceName,
  limit: { gapMs: number; maxWaitMs: number },
) => Promise<number | null>;

/**
 * Calls all `sources` that apply: first, in parallel, those that need no register number, then those that search by the
 * register number that was found. All calls end when `signal` aborts. Findings are in the order of `sources`.
 */
export const enrichCheck = async (
  sources: readonly EnrichmentSource[],
  subject: EnrichmentSubject,
  signal: AbortSignal,
): Promise<EnrichmentFinding[]> => {
  const findings = new Map<EnrichmentSource, EnrichmentFinding>();
  const callAll = (some: readonly EnrichmentSource[], about: EnrichmentSubject) =>
    Promise.all(some.map(async (source) => findings.set(source, await source.consult(about, signal))));
  const applicable = sources.filter((source) => source.appliesTo(subject));
  await callAll(
    applicable.filter((source) => !source.usesRegisterId),
    subject,
  );
  const registerId = [...findings.values()].map(({ entry }) => entry.facts?.register_id).find(Boolean) ?? null;
  await callAll(
    applicable.filter((source) => source.usesRegisterId),
    { ...subject, registerId },
  );
  return applicable.flatMap((source) => findings.get(source) ?? []);
};
