import type { CheckEntry, EnrichmentSourceName } from './entry.js';
import type { Exchange, SplitVatNumber } from './upstream.js';

/** What an enrichment source is told about the check it adds to. */
export type EnrichmentSubject = SplitVatNumber & {
  valid: boolean;
  name: string | null;
  address: string | null;
  requester: SplitVatNumber | null;
};

/** What a source found, as an entry for the check and the exchange that proves it (null when nothing was sent). */
export type EnrichmentFinding = { entry: CheckEntry; exchange: Exchange | null };

/** Port: one national register. `look` never throws and ends by its own deadline or when `signal` aborts. */
export type EnrichmentSource = {
  name: EnrichmentSourceName;
  appliesTo: (subject: EnrichmentSubject) => boolean;
  look: (subject: EnrichmentSubject, signal?: AbortSignal) => Promise<EnrichmentFinding>;
};
