import type { CheckEntry, EnrichmentSourceName } from './entry.js';
import type { Exchange, SplitVatNumber, Trader } from './upstream.js';

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
