import type { CheckEntry } from '../check/entry.js';
import { SANDBOX_REGISTERED, type SourceFacts } from '../check/facts.js';
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

/** Whether a register names VAT numbers. */
const isNamed = (numbers: readonly string[] = []): boolean => numbers.length > 0;

/**
 * How each register in which a member state lists its own companies states that the trader is registered for VAT. A register
 * that lists the trader and does not state this agrees to nothing. eVatR relays another state's answer, and GLEIF's records are
 * the companies' own statements, so neither agrees independently.
 */
const STATES_REGISTRATION: Partial<Record<CheckSource, (facts: SourceFacts) => boolean>> = {
  pl_white_list: ({ status }) => status === 'Czynny',
  cz_ares: ({ status, vat_numbers }) => status === 'AKTIVNI' || isNamed(vat_numbers),
  // The start of the VAT registration. The status is that of the taxpayer, which may have been struck off or declared inactive.
  ro_anaf: ({ registered_since, vat_numbers, status = '' }) =>
    (registered_since !== undefined || isNamed(vat_numbers)) && !/^RADI|INACTIV$/.test(status),
  // A list that lacks the number contradicts. A ceased company keeps its entry.
  fr_recherche_entreprises: ({ status, vat_numbers }) => status !== 'C' && isNamed(vat_numbers),
  // The start of the VAT registration; a company that is only in the trade register has none.
  fi_prh: ({ registered_since }) => registered_since !== undefined,
};

/** A register whose entry has ended lists a trader of the past. */
const corroborates = ({ source, outcome, facts }: GradedCheck['checks'][number]): boolean => {
  const states = STATES_REGISTRATION[source];
  if (!states || outcome !== 'found' || !facts || facts.registered_until !== undefined) return false;
  return facts.status === SANDBOX_REGISTERED || states(facts);
};

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
