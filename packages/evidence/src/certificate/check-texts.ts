import {
  type CheckBody,
  type CheckEntry,
  type CheckSource,
  type DocumentLanguage,
  FACT_NAMES,
  type FactMatches,
  MATCHED_PARTS,
  SCORED_PARTS,
  TRADER_FIELDS,
} from '@vat/domain';
import { formatTime, TERMS } from '../languages/terms.js';
import { CERTIFICATE_TEXTS, SOURCE_NAMES } from './texts/index.js';

/** The values of a check as its certificate shows them; null where a check has none. */
export type CheckTexts = {
  sentence: string;
  grade: string | null;
  consultationNumber: string;
  /** VIES's own comparison with the trader that was given. */
  viesMatch: string | null;
  given: string | null;
  match: string | null;
  /** One line for each source that states facts. */
  registers: string | null;
  sources: string[][];
};

export const checkTexts = (check: CheckBody, language: DocumentLanguage): CheckTexts => {
  const texts = CERTIFICATE_TEXTS[language];
  const { grades, explained, separator } = TERMS[language];
  const isQueried = check.checks.some(({ source }) => source === 'vies');

  const nameOf = (source: CheckSource): string =>
    source === 'syntax' || source === 'vies_confirmation' ? texts.sourceNames[source] : SOURCE_NAMES[source];

  const sentence = (): string => {
    if (check.test) return texts.sentences.test;
    return texts.sentences[check.verdict === 'malformed' && isQueried ? 'rejected' : check.verdict];
  };

  const grade = (): string | null => {
    if (!check.evidence_grade) return null;
    // What the grade means is about VIES and registers, and none of them was queried.
    if (check.test) return check.evidence_grade;
    const limited = check.checks.some(({ contradicts }) => contradicts) ? `${separator}${texts.contradicted}` : '';
    return `${explained(check.evidence_grade, grades[check.evidence_grade])}${limited}`;
  };

  /** Why there is no consultation number. */
  const withoutNumber = (): string => {
    if (check.test || !isQueried) return texts.withoutNumber.notQueried;
    return check.requester_vat_number === null ? texts.withoutNumber.noRequester : texts.withoutNumber.notGiven;
  };

  const viesMatch = (): string | null => {
    const parts = TRADER_FIELDS.flatMap((field) => {
      const word = check.trader_match?.[field];
      return word ? [explained(texts.traderFields[field], texts.viesWords[word])] : [];
    });
    return parts.join(separator) || null;
  };

  const given = (): string | null => {
    const parts = TRADER_FIELDS.flatMap((field) => {
      const value = check.trader?.[field];
      return value ? [explained(texts.traderFields[field], value)] : [];
    });
    return parts.join(separator) || null;
  };

  const match = (): string | null => {
    if (!check.match) return null;
    if (check.match.score === null) return texts.nothingToCompare;
    const parts = SCORED_PARTS.flatMap((part) => {
      const compared = check.match?.[part];
      if (!compared) return [];
      const found = explained(nameOf(compared.source as CheckSource), compared.found);
      return [`${texts.traderFields[part]} ${compared.score} (${found})`];
    });
    return [texts.score(check.match.score), ...parts].join(separator);
  };

  const fact = (value: string | string[] | FactMatches): string => {
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.join(' ') || texts.none;
    return MATCHED_PARTS.map((part) => `${texts.traderFields[part]} ${texts.letters[value[part]]}`).join(', ');
  };

  const registers = (): string | null => {
    const lines = check.checks.flatMap(({ source, facts }) => {
      const stated = FACT_NAMES.flatMap((name) => {
        const value = facts?.[name];
        return value === undefined ? [] : [explained(texts.facts[name], fact(value))];
      });
      return stated.length === 0 ? [] : [explained(nameOf(source), stated.join(separator))];
    });
    return lines.join('\n') || null;
  };

  const wordOf = ({ source, outcome }: CheckEntry): string =>
    (source === 'syntax' && outcome === 'valid' && texts.validFormat) || texts.outcomes[outcome];
  const outcome = (entry: CheckEntry): string => {
    const { contradicts, code } = entry;
    const words = [wordOf(entry), ...(contradicts ? [texts.contradicts] : [])].join(', ');
    return code ? `${words} (${code})` : words;
  };

  return {
    sentence: sentence(),
    grade: grade(),
    consultationNumber: check.consultation_number ?? withoutNumber(),
    viesMatch: viesMatch(),
    given: given(),
    match: match(),
    registers: registers(),
    sources: check.checks.map((entry) => [
      nameOf(entry.source),
      outcome(entry),
      String(entry.attempts ?? ''),
      formatTime(entry.started_at, language, 'short'),
      `${entry.duration_ms} ms`,
    ]),
  };
};
