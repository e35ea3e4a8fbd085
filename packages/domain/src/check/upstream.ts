import type { MemberState } from '../member-states.js';
import type { CheckEntry, CheckSource, EnrichmentSourceName } from './entry.js';

/** The parts a trader may be matched on, in the contract's spelling. */
export const TRADER_FIELDS = ['name', 'street', 'postal_code', 'city', 'company_type'] as const;
export type TraderField = (typeof TRADER_FIELDS)[number];

/** How VIES writes a company type: a member state and a number, e.g. ES-1. Anything else makes it refuse the whole request. */
export const COMPANY_TYPE = /^[A-Z]{2}-[1-9][0-9]?$/;

/** What the caller believes about the trader; VIES compares it approximately. */
export type Trader = Partial<Record<TraderField, string>>;

/** VIES's word on each part it was given; `null` where it said nothing. */
export type TraderMatch = Record<TraderField, 'valid' | 'invalid' | 'not_processed' | null>;

/** A number split the way VIES wants it. */
export type SplitVatNumber = { memberState: MemberState; national: string };

/** One question to the upstream. */
export type Ask = SplitVatNumber & {
  requester: SplitVatNumber | null;
  trader: Trader | null;
};

/** The upstream said whether the number is valid. The only kind of outcome that may become `valid: true|false`. */
export type LookupVerdict = {
  kind: 'verdict';
  valid: boolean;
  name: string | null;
  address: string | null;
  consultationNumber: string | null;
  traderMatch: TraderMatch | null;
};

/**
 * The upstream understood the question and refused it. Believed only under the rules of `decide-ask`. `upstreamCode` is
 * the upstream's own code where it has another name for `code`, e.g. VOW-ERR-2600 for INVALID_INPUT.
 */
export type LookupRejected = {
  kind: 'rejected';
  code: 'INVALID_INPUT' | 'INVALID_REQUESTER_INFO';
  upstreamCode?: string;
};

/** No answer: never a verdict, always tried again until the request is abandoned. */
export type LookupNoAnswer = {
  kind: 'no_answer';
  outcome: 'saturated' | 'unavailable' | 'timeout' | 'blocked';
  /** The upstream's code (`…_TIME` variants folded into their base), or null where there was none. */
  code: string | null;
  /** For saturation: whom to slow down. */
  scope: 'global' | 'member_state' | null;
  /** What was seen, for a person: "HTTP 503", "connection reset", "HTML instead of JSON". */
  detail: string | null;
};

/**
 * A `Retry-After` of the upstream, bounded to {@link MAX_RETRY_AFTER_MS}. `scope` says which lookups wait: those of every
 * member state, of the one that was asked, or only the next lookup of the same request.
 */
export type RetryAfter = { ms: number; scope: 'global' | 'member_state' | 'request' };

/** A longer Retry-After of the upstream counts as this. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** VIES's code for a request without a mandatory field: a fault of this service. */
export const MISSING_FIELD_CODE = 'VOW-ERR-11';

export type LookupOutcome = (LookupVerdict | LookupRejected | LookupNoAnswer) & { retryAfter?: RetryAfter };

/** True for what an operator must act on: the upstream blocks this service, or calls its requests incomplete. */
export const needsOperator = (outcome: LookupOutcome): outcome is LookupNoAnswer =>
  outcome.kind === 'no_answer' && (outcome.outcome === 'blocked' || outcome.code === MISSING_FIELD_CODE);

/** One HTTP exchange, kept byte for byte: it is evidence. */
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

/** Port: asks the upstream once. Never throws and never takes longer than the attempt time-out. */
export type LookUp = (ask: Ask, signal?: AbortSignal) => Promise<{ outcome: LookupOutcome; exchange: Exchange }>;

/** What an enrichment source knows of the check it adds to. */
export type EnrichmentSubject = SplitVatNumber & {
  valid: boolean;
  name: string | null;
  address: string | null;
  requester: SplitVatNumber | null;
  /** As the caller gave it. */
  trader: Trader | null;
  /** The number in a national register, when a source that was asked before found it. */
  registerId: string | null;
  /** Whose evidence the exchange becomes. Subjects of two accounts never share one: each would read the other's numbers. */
  accountId: string;
  /** Somebody waits for this check right now. */
  callerWaits: boolean;
};

/** What a source found, as an entry for the check and the exchange that proves it (null when nothing was sent). */
export type EnrichmentFinding = { entry: CheckEntry; exchange: Exchange | null };

/** Port: one national register. `look` never throws and ends by its own deadline or when `signal` aborts. */
export type EnrichmentSource = {
  name: EnrichmentSourceName;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  /** True for a source that searches by `registerId`: it is asked after the others. */
  usesRegisterId?: boolean;
  look: (subject: EnrichmentSubject, signal?: AbortSignal) => Promise<EnrichmentFinding>;
};

/** `exhausted`: the day's searches are used up. `blocked`: the source refuses us for the rest of the day. */
export type SearchPermit = 'taken' | 'exhausted' | 'blocked';

/** Port: how many searches of a source the whole fleet makes in one calendar day (YYYY-MM-DD, of the source's time zone). */
export type SearchBudget = {
  /** Takes one search out of `limit`. Atomic over the fleet; rejects when the count cannot be read. */
  take: (source: EnrichmentSourceName, day: string, limit: number) => Promise<SearchPermit>;
  /** Nobody searches again that day. */
  block: (source: EnrichmentSourceName, day: string) => Promise<void>;
};

/**
 * Asks all `sources` that apply: those that stand alone side by side, then those that search by a register's number with
 * the number that was found. All of it ends when `signal` aborts. Findings are in the order of `sources`.
 */
export const enrichCheck = async (
  sources: readonly EnrichmentSource[],
  subject: EnrichmentSubject,
  signal: AbortSignal,
): Promise<EnrichmentFinding[]> => {
  const findings = new Map<EnrichmentSource, EnrichmentFinding>();
  const askAll = (some: readonly EnrichmentSource[], about: EnrichmentSubject) =>
    Promise.all(some.map(async (source) => findings.set(source, await source.look(about, signal))));
  const applicable = sources.filter((source) => source.appliesTo(subject));
  await askAll(
    applicable.filter((source) => !source.usesRegisterId),
    subject,
  );
  const registerId = [...findings.values()].map(({ entry }) => entry.facts?.register_id).find(Boolean) ?? null;
  await askAll(
    applicable.filter((source) => source.usesRegisterId),
    { ...subject, registerId },
  );
  return applicable.flatMap((source) => findings.get(source) ?? []);
};
