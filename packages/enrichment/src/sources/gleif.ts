import type { MemberState } from '@vat/domain';
import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition } from '../source-definition.js';

const recordSchema = z.object({
  attributes: z.object({
    lei: z.string(),
    entity: z.object({
      legalName: z.object({ name: z.string() }),
      legalAddress: z.object({ country: lenientText }).nullable().catch(null).default(null),
      status: lenientText,
      registeredAs: lenientText,
    }),
    registration: z.object({ status: lenientText, nextRenewalDate: lenientText }).nullable().catch(null).default(null),
  }),
});
const answerSchema = z.object({ data: z.array(recordSchema) });

const LONGEST_NAME = 200;

// ISO 3166 where VIES's own codes differ.
const COUNTRIES: Partial<Record<MemberState, string>> = { EL: 'GR', XI: 'GB' };
const countryOf = (memberState: MemberState) => COUNTRIES[memberState] ?? memberState;

// Greece puts the trade name behind `||`; a comma would split the filter's value in two.
const legalNameOf = (name: string) =>
  Array.from(
    (name.split('||')[0] ?? '')
      .replaceAll(',', ' ')
      .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
      .trim(),
  )
    .slice(0, LONGEST_NAME)
    .join('');

const comparable = (name: string) =>
  legalNameOf(name)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * The global register of legal entities (GLEIF), by the name VIES disclosed. GLEIF knows no VAT numbers and its filter
 * finds similar names, so only the same name in the same country is `found`; several of them are counted, not chosen from.
 */
export const gleif: SourceDefinition = {
  name: 'gleif',
  appliesTo: ({ valid, name }) => valid && name !== null && comparable(name) !== '',
  ask: ({ memberState, name }) => {
    if (name === null || comparable(name) === '') return { skip: 'no name to look for' };
    const query = new URLSearchParams({
      'filter[entity.legalName]': legalNameOf(name),
      'filter[entity.legalAddress.country]': countryOf(memberState),
      'page[size]': '10',
    });
    return { path: `/api/v1/lei-records?${query}` };
  },
  read: (json, { memberState, name }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    const same = answer.data.data.filter(({ attributes: { entity } }) => {
      const country = entity.legalAddress?.country ?? null;
      return (
        comparable(entity.legalName.name) === comparable(name ?? '') &&
        (country === null || country === countryOf(memberState))
      );
    });
    const [record] = same;
    if (!record) return { outcome: 'not_found', facts: [['similar names', answer.data.data.length]] };
    if (same.length > 1) return { outcome: 'found', facts: [['entities of this name', same.length]] };
    const { lei, entity, registration } = record.attributes;
    return {
      outcome: 'found',
      facts: [
        ['lei', lei],
        ['entity', entity.status],
        ['registration', registration?.status],
        ['next renewal', registration?.nextRenewalDate],
        ['registered as', entity.registeredAs],
        ['name', entity.legalName.name],
      ],
    };
  },
};
