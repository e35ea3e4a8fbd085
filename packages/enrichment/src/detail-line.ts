import type { SourceFacts } from './source-definition.js';

/** Longest `detail` of an entry, in UTF-16 code units. */
export const DETAIL_LENGTH = 300;

// Control characters become spaces (addresses come with line breaks); lone surrogates go, they have no UTF-8 form and
// would break the hash of the check. Contract part 2 §4.
const clean = (value: string) =>
  value
    .replace(/\p{Cs}/gu, '')
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();

const shorten = (line: string) => {
  if (line.length <= DETAIL_LENGTH) return line;
  // Cutting between the halves of a pair would make the lone surrogate that was just removed elsewhere.
  return `${line.slice(0, DETAIL_LENGTH - 1).replace(/\p{Cs}$/u, '')}…`;
};

/** `key: value; key: value` for a person, cleaned and at most {@link DETAIL_LENGTH} long; booleans read yes and no. */
export const detailLine = (facts: SourceFacts): string => {
  const parts: string[] = [];
  for (const [key, value] of facts) {
    if (value === null || value === undefined) continue;
    const text = clean(typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value));
    if (text !== '') parts.push(`${key}: ${text}`);
  }
  return shorten(parts.join('; '));
};
