import type { EnrichmentSubject, MemberState } from '@vat/domain';
import { z } from 'zod';
import { lenientList, lenientText, optional, readAs } from '../register-fields.js';
import type { SourceDefinition } from '../source-definition.js';

const recordSchema = z.object({
  attributes: z.object({
    lei: z.string(),
    entity: z.object({
      legalName: z.object({ name: z.string() }),
      legalAddress: optional(
        z.object({
          addressLines: lenientList(z.string()),
          city: lenientText,
          postalCode: lenientText,
          country: lenientText,
        }),
      ),
      legalForm: optional(z.object({ id: lenientText, other: lenientText })),
      status: lenientText,
      registeredAs: lenientText,
    }),
    registration: optional(z.object({ status: lenientText, nextRenewalDate: lenientText })),
  }),
});
const answerSchema = z.object({ data: z.array(recordSchema) });

const MAX_NAME = 200;

// The ISO 3166 codes that differ from those of VIES.
const COUNTRIES: Partial<Record<MemberState, string>> = { EL: 'GR', XI: 'GB' };
const countryOf = (memberState: MemberState) => COUNTRIES[memberState] ?? memberState;

// Greece appends the trade name after `||`; a comma would split the filter's value.
const legalNameOf = (name: string) =>
  Array.from(
    (name.split('||')[0] ?? '')
      .replaceAll(',', ' ')
      .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
      .trim(),
  )
    .slice(0, MAX_NAME)
    .join('');

const comparable = (name: string) =>
  legalNameOf(name)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const addressOf = (address: z.output<typeof recordSchema>['attributes']['entity']['legalAddress']): string | null => {
  if (!address) return null;
  const { addressLines, postalCode, city, country } = address;
  const cityLine = [postalCode, city].filter(Boolean).join(' ');
  return [...addressLines, cityLine, country].filter(Boolean).join(', ');
};

/** Registers write the same number with different punctuation: `0112038-9`, `J32/392/2001`, `HRB 1234`. */
const plain = (number: string) => number.replace(/[^0-9A-Za-z]/g, '').toUpperCase();

const isSame = (
  { registeredAs, legalName }: { registeredAs: string | null; legalName: { name: string } },
  subject: EnrichmentSubject,
) =>
  subject.registerId === null
    ? comparable(legalName.name) === comparable(subject.name ?? '')
    : registeredAs !== null && plain(registeredAs) === plain(subject.registerId);

// The limit is sixty calls a minute. The gap is longer than a second, because the times of arrival count.
const GAP_MS = 1_100;

/**
 * The global register of legal entities (GLEIF), by the number in a national register if another source found one, else
 * by the name that VIES disclosed. GLEIF has no VAT numbers and its filter finds similar names, so only the same number
 * or name in the same country is `found`; several matches are only counted.
 */
export const gleif: SourceDefinition = {
  name: 'gleif',
  url: 'https://api.gleif.org',
  sample: { memberState: 'DE', national: '', name: 'Siemens Aktiengesellschaft' },
  accept: 'application/vnd.api+json',
  gapMs: GAP_MS,
  usesRegisterId: true,
  appliesTo: ({ valid, name }) => valid && name !== null && comparable(name) !== '',
  createRequest: ({ memberState, name, registerId }) => {
    if (registerId === null && (name === null || comparable(name) === '')) return { skip: 'no name to search for' };
    const query = new URLSearchParams({
      ...(registerId === null
        ? { 'filter[entity.legalName]': legalNameOf(name ?? '') }
        : { 'filter[entity.registeredAs]': registerId.replaceAll(',', ' ') }),
      'filter[entity.legalAddress.country]': countryOf(memberState),
      'page[size]': '10',
    });
    return { path: `/api/v1/lei-records?${query}` };
  },
  read: readAs(answerSchema, ({ data: similar }, subject) => {
    const same = similar.filter(({ attributes: { entity } }) => {
      const country = entity.legalAddress?.country ?? null;
      return isSame(entity, subject) && (country === null || country === countryOf(subject.memberState));
    });
    const [record] = same;
    const by = subject.registerId === null ? 'name' : 'register number';
    if (!record) return { outcome: 'not_found', detail: [[`similar ${by}s`, similar.length]] };
    if (same.length > 1) return { outcome: 'found', detail: [[`entities of this ${by}`, same.length]] };
    const { lei, entity, registration } = record.attributes;
    return {
      outcome: 'found',
      facts: {
        name: entity.legalName.name,
        address: addressOf(entity.legalAddress),
        legal_form: entity.legalForm?.other ?? entity.legalForm?.id ?? null,
        status: entity.status,
        register_id: lei,
      },
      detail: [
        ['lei', lei],
        ['entity', entity.status],
        ['registration', registration?.status],
        ['next renewal', registration?.nextRenewalDate],
        ['registered as', entity.registeredAs],
        ['name', entity.legalName.name],
      ],
    };
  }),
};
