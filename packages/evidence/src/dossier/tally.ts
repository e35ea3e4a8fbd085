import type { CheckBody } from '@vat/domain';
import type { DossierCheck } from './dossier-source.js';

/** What a dossier holds, as `manifest.json` counts it. */
export type DossierCounts = {
  checks: number;
  valid: number;
  invalid: number;
  malformed: number;
  exchanges: number;
  timestamps: number;
  anchors: number;
  proofs: number;
  requests: number;
  watch_changes: number;
};

/** The counts and the span of a dossier that is being written; `first` and `last` are `checked_at` of its checks. */
export type DossierTally = { counts: DossierCounts; first: string | null; last: string | null };

/** The tally of a dossier with nothing in it. */
export const emptyTally = (): DossierTally => ({
  counts: {
    checks: 0,
    valid: 0,
    invalid: 0,
    malformed: 0,
    exchanges: 0,
    timestamps: 0,
    anchors: 0,
    proofs: 0,
    requests: 0,
    watch_changes: 0,
  },
  first: null,
  last: null,
});

/** Adds one check to `tally`. */
export const tallyCheck = (tally: DossierTally, check: DossierCheck, body: CheckBody): void => {
  const { counts } = tally;
  counts.checks += 1;
  counts[body.verdict] += 1;
  counts.exchanges += check.exchanges.length;
  counts.timestamps += check.token ? 1 : 0;
  counts.proofs += check.proof ? 1 : 0;
  const at = body.checked_at;
  if (tally.first === null || at < tally.first) tally.first = at;
  if (tally.last === null || at > tally.last) tally.last = at;
};
