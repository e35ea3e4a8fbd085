/** How a part of the trader compares, in eVatR's letters: A agrees, B differs, C was not requested, D is not disclosed by the state. */
export const MATCH_LETTERS = ['A', 'B', 'C', 'D'] as const;
export type MatchLetter = (typeof MATCH_LETTERS)[number];

/** The parts of a trader that a qualified confirmation compares. */
export const MATCHED_PARTS = ['name', 'street', 'postal_code', 'city'] as const;
export type FactMatches = Record<(typeof MATCHED_PARTS)[number], MatchLetter>;

/**
 * What a register states about a trader, in its own words; only stated facts are present. Dates are YYYY-MM-DD where the
 * source uses that form. Facts are part of the hashed body.
 */
export type SourceFacts = {
  name?: string;
  address?: string;
  legal_form?: string;
  /** The source's own text about the registration, such as "Czynny" or "AKTIVNI". */
  status?: string;
  registered_since?: string;
  registered_until?: string;
  register_id?: string;
  vat_numbers?: string[];
  /** The source's own proof of the enquiry. */
  receipt?: string;
  matches?: FactMatches;
};

/** The status in which the sandbox lists a trader, in place of a register's own word. */
export const SANDBOX_REGISTERED = 'Sandbox: registered';

/** The order in which people read facts. */
export const FACT_NAMES = [
  'name',
  'address',
  'legal_form',
  'status',
  'registered_since',
  'registered_until',
  'register_id',
  'vat_numbers',
  'receipt',
  'matches',
] as const satisfies readonly (keyof SourceFacts)[];
