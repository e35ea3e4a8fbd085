import type { CheckEntry } from '../check/entry.js';
import type { CheckSource } from '../check-sources.js';
import { AGREES_FROM } from '../match/agreement.js';
import type { TraderScore } from '../match/match-trader.js';
import { TRADER_FIELDS, type Trader, type TraderField, type TraderMatch } from '../trader.js';

/** How strong the evidence of a check is, the weakest first. */
export const EVIDENCE_GRADES = ['none', 'basic', 'named', 'corroborated', 'qualified'] as const;
export type EvidenceGrade = (typeof EVIDENCE_GRADES)[number];

/** What decides the grade; the body of a check has these fields. */
export type GradedCheck = {
  valid: boolean;
  /** As VIES states them. */
  name: string | null;
  address: string | null;
  requester_vat_number: string | null;
  consultation_number: string | null;
  trader?: Trader | null;
  /** VIES's own comparison. */
  trader_match: TraderMatch | null;
  match?: TraderScore | null;
  checks: readonly Pick<CheckEntry, 'source' | 'outcome' | 'facts' | 'contradicts'>[];
};

/**
 * Registers in which a member state lists its own companies. eVatR relays another state's answer, and GLEIF's records are the
 * companies' own statements, so neither agrees independently.
 */
const NATIONAL_REGISTERS: ReadonlySet<CheckSource> = new Set([
  'pl_white_list',
  'cz_ares',
  'ro_anaf',
  'fr_recherche_entreprises',
  'fi_prh',
]);

/** The status of an entry that has ended, in a register that does not always state its end. */
const ENDED: Partial<Record<CheckSource, string>> = { fr_recherche_entreprises: 'C' };

/** A register whose entry has ended lists a trader of the past. */
const corroborates = ({ source, outcome, facts }: GradedCheck['checks'][number]): boolean =>
  NATIONAL_REGISTERS.has(source) &&
  outcome === 'found' &&
  facts?.registered_until === undefined &&
  (facts?.status === undefined || facts.status !== ENDED[source]);

const agrees = (check: GradedCheck, field: TraderField): boolean => {
  if (check.trader_match?.[field] === 'valid') return true;
  // Only VIES, and only for some states, compares a company type: only its "invalid" is a difference.
  if (field === 'company_type') return check.trader_match?.company_type !== 'invalid';
  if (check.checks.some(({ facts }) => facts?.matches?.[field] === 'A')) return true;
  return (check.match?.[field]?.score ?? -1) >= AGREES_FROM;
};

const hasProof = ({ requester_vat_number, consultation_number, checks }: GradedCheck): boolean =>
  (requester_vat_number !== null && consultation_number !== null) ||
  checks.some(
    ({ source, outcome, facts }) => source === 'de_evatr' && outcome === 'found' && facts?.receipt !== undefined,
  );

/**
 * The grade of a check: `none` (not valid), `basic` (VIES says valid), `named` (a source gives name and address),
 * `corroborated` (a national register agrees), `qualified` (VIES issued a consultation number to the caller's requester
 * number, or eVatR an id, and every trader detail that was given agrees). A source that contradicts the verdict limits the
 * grade to `named`. Pure.
 */
export const gradeEvidence = (check: GradedCheck): EvidenceGrade => {
  if (!check.valid) return 'none';
  const contradicted = check.checks.some(({ contradicts }) => contradicts === true);
  if (!contradicted) {
    const given = TRADER_FIELDS.filter((field) => check.trader?.[field]);
    if (hasProof(check) && given.every((field) => agrees(check, field))) return 'qualified';
    if (check.checks.some(corroborates)) return 'corroborated';
  }
  const isNamed =
    (check.name !== null && check.address !== null) ||
    check.checks.some(({ facts }) => facts?.name !== undefined && facts.address !== undefined);
  return isNamed ? 'named' : 'basic';
};
