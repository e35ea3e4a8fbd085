import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition } from '../source-definition.js';

const descriptionSchema = z.object({ languageCode: lenientText, description: lenientText });
const companySchema = z.object({
  businessId: z.object({ value: z.string() }),
  names: z
    .array(z.object({ name: lenientText, type: lenientText, endDate: lenientText }))
    .catch([])
    .default([]),
  registeredEntries: z
    .array(
      z.object({
        register: lenientText,
        registrationDate: lenientText,
        endDate: lenientText,
        descriptions: z.array(descriptionSchema).catch([]).default([]),
      }),
    )
    .catch([])
    .default([]),
  tradeRegisterStatus: lenientText,
  endDate: lenientText,
});
const answerSchema = z.object({ companies: z.array(companySchema) });

/** PRH's own codes: the legal name, the VAT register, English. */
const LEGAL_NAME = '1';
const VAT_REGISTER = '6';
const ENGLISH = '3';

const businessIdOf = (national: string) =>
  /^\d{8}$/.test(national) ? `${national.slice(0, 7)}-${national.slice(7)}` : null;

/** The Finnish business information system (PRH open data), by business id; registration entries that ended are left out. */
export const fiPrh: SourceDefinition = {
  name: 'fi_prh',
  appliesTo: ({ memberState, valid }) => memberState === 'FI' && valid,
  ask: ({ national }) => {
    const id = businessIdOf(national);
    return id
      ? { path: `/opendata-ytj-api/v3/companies?businessId=${id}` }
      : { skip: 'not a business id of eight digits' };
  },
  read: (json, { national }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    const id = businessIdOf(national);
    const company = answer.data.companies.find(({ businessId }) => businessId.value === id);
    if (!company) return { outcome: 'not_found' };
    const names = company.names.filter(({ endDate }) => endDate === null);
    const vat = company.registeredEntries.find((entry) => entry.register === VAT_REGISTER && entry.endDate === null);
    return {
      outcome: 'found',
      facts: [
        ['business id', id],
        ['name', (names.find(({ type }) => type === LEGAL_NAME) ?? names[0])?.name],
        ['vat register', vat?.descriptions.find(({ languageCode }) => languageCode === ENGLISH)?.description],
        ['since', vat?.registrationDate],
        ['trade register status', company.tradeRegisterStatus],
        ['ended', company.endDate],
      ],
    };
  },
};
