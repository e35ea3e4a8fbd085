import type { CheckSource } from '../check-sources.js';
import { stripUnsafeCharacters } from '../strip-unsafe-characters.js';
import type { Trader } from '../trader.js';
import { isUnstated } from './fold-text.js';
import { parseAddress } from './parse-address.js';
import { scoreCity } from './score-city.js';
import { scoreName } from './score-name.js';
import { scorePostalCode } from './score-postal-code.js';
import { scoreStreet } from './score-street.js';

/** What one source states about a trader. `address` may be one string of several lines; the parts win where they are stated. */
export type StatedTrader = {
  source: CheckSource;
  /** VIES's code of the state whose formats the address follows. */
  memberState: string;
  name?: string | null;
  address?: string | null;
  street?: string | null;
  postal_code?: string | null;
  city?: string | null;
};

/** The parts of a trader that are scored, and how much each counts in the whole. */
const WEIGHTS = { name: 50, street: 20, postal_code: 15, city: 15 } as const;
export type ScoredPart = keyof typeof WEIGHTS;
export const SCORED_PARTS = Object.keys(WEIGHTS) as ScoredPart[];

/** `score` is an integer from 0 to 100; `found` is the source's own text that agrees best. */
export type PartScore = { score: number; expected: string; found: string; source: CheckSource };

/** Our score of a trader against what sources state. `score` is null where nothing could be compared. */
export type TraderScore = { score: number | null } & Record<ScoredPart, PartScore | null>;

type Part = { [part in ScoredPart]: string | null };

const partsOf = (stated: StatedTrader): Part => {
  const parsed = parseAddress(stated.address ?? '', stated.memberState);
  const choose = (part: string | null | undefined, fallback: string | null): string | null =>
    isUnstated(part) ? fallback : (part ?? null);
  return {
    name: choose(stated.name, null),
    street: choose(stated.street, parsed.street),
    postal_code: choose(stated.postal_code, parsed.postal_code),
    city: choose(stated.city, parsed.city),
  };
};

const scorePart = (part: ScoredPart, expected: string, found: string, memberState: string): number => {
  if (part === 'name') return scoreName(expected, found, memberState);
  if (part === 'street') return scoreStreet(expected, found);
  return part === 'city' ? scoreCity(expected, found) : scorePostalCode(expected, found);
};

/** The mean of the compared parts by weight, at most the score of the name: a group's companies share an address. */
const scoreWhole = (parts: Record<ScoredPart, PartScore | null>): number | null => {
  const compared = SCORED_PARTS.flatMap((part) =>
    parts[part] ? [{ weight: WEIGHTS[part], score: parts[part].score }] : [],
  );
  if (compared.length === 0) return null;
  const weight = compared.reduce((sum, { weight }) => sum + weight, 0);
  const mean = Math.round(compared.reduce((sum, { weight, score }) => sum + weight * score, 0) / weight);
  return Math.min(mean, parts.name?.score ?? mean);
};

/**
 * Scores what the caller states about a trader against everything that sources state: for each given part the source that
 * agrees best, the first one among equals. A part is null where it was not given or no source states it. Null without a
 * trader. Pure, never throws.
 */
export const matchTrader = (trader: Trader | null, sources: readonly StatedTrader[]): TraderScore | null => {
  if (trader === null) return null;
  const parts: Record<ScoredPart, PartScore | null> = { name: null, street: null, postal_code: null, city: null };
  for (const stated of sources) {
    const found = partsOf(stated);
    for (const part of SCORED_PARTS) {
      const expected = trader[part];
      const text = found[part];
      if (expected === undefined || isUnstated(expected) || text === null) continue;
      const score = scorePart(part, expected, text, stated.memberState);
      // Where an address is cut, half of a surrogate pair can remain, with which the check could not be hashed.
      if (score > (parts[part]?.score ?? -1))
        parts[part] = { score, expected, found: stripUnsafeCharacters(text), source: stated.source };
    }
  }
  return { score: scoreWhole(parts), ...parts };
};
