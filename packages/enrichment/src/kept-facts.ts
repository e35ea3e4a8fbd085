import type { SourceFacts } from '@vat/domain';
import { cleanText } from './detail-line.js';
import type { StatedFacts } from './source-definition.js';

/** Longest text of one fact, in UTF-16 code units. */
export const FACT_LENGTH = 500;

/** VAT numbers that are kept of one answer. */
const VAT_NUMBERS_KEPT = 20;

/**
 * The facts that the source states, each as one line of text that the hash of a check can hold; undefined where it states
 * none. An empty list of VAT numbers is a statement and stays.
 */
export const keptFacts = (stated: StatedFacts | undefined): SourceFacts | undefined => {
  const { vat_numbers: numbers, matches, ...texts } = stated ?? {};
  const kept = Object.entries(texts).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? cleanText(value, FACT_LENGTH) : '';
    return text === '' ? [] : [[name, text] as const];
  });
  const facts: SourceFacts = {
    ...Object.fromEntries(kept),
    ...(numbers
      ? { vat_numbers: numbers.slice(0, VAT_NUMBERS_KEPT).map((number) => cleanText(number, FACT_LENGTH)) }
      : {}),
    ...(matches ? { matches } : {}),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
};
