import type { SplitVatNumber } from '@vat/domain';

const country = (code: string): string => {
  const upper = code.trim().toUpperCase();
  return upper === 'GR' ? 'EL' : upper; // VIES's own name for Greece is EL, ISO's is GR
};

const bare = (national: string): string => national.toUpperCase().replace(/\s+/g, '').replace(/^0+/, '');

/** What can be compared: a number VIES left out, blanked or masked says nothing about which number was judged. */
const comparable = (value: unknown): string | null => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' && text.trim() !== '---' ? text : null;
};

/**
 * False when the answer names another number than the one asked for (a mixed-up answer of a proxy or cache). Case,
 * blanks, leading zeros and a repeated country prefix do not count.
 */
export const echoesAsk = (ask: SplitVatNumber, answer: Record<string, unknown>): boolean => {
  const echoedCountry = comparable(answer.countryCode);
  if (echoedCountry !== null && country(echoedCountry) !== country(ask.memberState)) return false;

  const echoed = comparable(answer.vatNumber);
  if (echoed === null) return true;
  const asked = bare(ask.national);
  const heard = bare(echoed);
  return heard === asked || (country(heard.slice(0, 2)) === country(ask.memberState) && bare(heard.slice(2)) === asked);
};
