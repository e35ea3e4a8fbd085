import type { DetailPairs } from './source-definition.js';

/** Longest `detail` of an entry, in UTF-16 code units. */
export const DETAIL_LENGTH = 300;

/**
 * One line of text that the hash of a check can hold: control characters become spaces (addresses come with line breaks),
 * and lone surrogates are removed, since they have no UTF-8 form. Cut at `length` code units. Contract part 2 §4.
 */
export const cleanText = (value: string, length: number): string => {
  const line = value
    .replace(/\p{Cs}/gu, '')
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  if (line.length <= length) return line;
  // Cutting between the halves of a pair would make the lone surrogate that was just removed elsewhere.
  return `${line.slice(0, length - 1).replace(/\p{Cs}$/u, '')}…`;
};

/** `key: value; key: value` for a person, cleaned and at most {@link DETAIL_LENGTH} long; booleans read yes and no. */
export const detailLine = (pairs: DetailPairs): string => {
  const parts: string[] = [];
  for (const [key, value] of pairs) {
    if (value === null || value === undefined) continue;
    const text = cleanText(
      typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
      Number.MAX_SAFE_INTEGER,
    );
    if (text !== '') parts.push(`${key}: ${text}`);
  }
  return cleanText(parts.join('; '), DETAIL_LENGTH);
};
