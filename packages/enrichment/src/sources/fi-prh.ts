import { z } from 'zod';
import { lenientList, lenientText, pastEnd, readAs, wholeList } from '../register-fields.js';
import type { SourceDefinition } from '../source-definition.js';

const descriptionsSchema = lenientList(z.object({ languageCode: lenientText, description: lenientText }));
const companySchema = z.object({
  businessId: z.object({ value: z.string() }),
  names: lenientList(z.object({ name: lenientText, type: lenientText, endDate: lenientText })),
  registeredEntries: wholeList(
    z.object({
      register: lenientText,
      registrationDate: lenientText,
      endDate: lenientText,
      descriptions: descriptionsSchema,
    }),
  ),
  companyForms: lenientList(z.object({ endDate: lenientText, descriptions: descriptionsSchema })),
  addresses: lenientList(
    z.object({
      type: lenientText,
      street: lenientText,
      buildingNumber: lenientText,
      postCode: lenientText,
      postOffices: lenientList(z.object({ city: lenientText })),
    }),
  ),
  tradeRegisterStatus: lenientText,
  endDate: lenientText,
});
type Company = z.output<typeof companySchema>;
const answerSchema = z.object({ companies: z.array(companySchema) });

/** PRH's own codes: the legal name, the VAT register, English, the street address. */
const LEGAL_NAME = '1';
const VAT_REGISTER = '6';
const ENGLISH = '3';
const STREET_ADDRESS = '1';

const inEnglish = (descriptions: Company['companyForms'][number]['descriptions'] | undefined) =>
  descriptions?.find(({ languageCode }) => languageCode === ENGLISH)?.description ?? null;

const addressOf = ({ addresses }: Company): string | null => {
  const address = addresses.find(({ type }) => type === STREET_ADDRESS) ?? addresses[0];
  if (!address) return null;
  const { street, buildingNumber, postCode, postOffices } = address;
  const words = (...parts: (string | null | undefined)[]) => parts.filter(Boolean).join(' ');
  return [words(street, buildingNumber), words(postCode, postOffices[0]?.city)]
    .filter((line) => line !== '')
    .join(', ');
};

/** The open entry in the VAT register; if all have ended, the one that ended last. */
const vatEntryOf = ({ registeredEntries }: Company, today: string) => {
  const entries = (registeredEntries ?? [])
    .filter(({ register }) => register === VAT_REGISTER)
    .map((entry) => ({ ...entry, endDate: pastEnd(entry.endDate, today) }));
  return (
    entries.find(({ endDate }) => endDate === null) ??
    entries.toSorted((a, b) => (a.endDate ?? '').localeCompare(b.endDate ?? '')).at(-1)
  );
};

const businessIdOf = (national: string) =>
  /^\d{8}$/.test(national) ? `${national.slice(0, 7)}-${national.slice(7)}` : null;

/**
 * The Finnish business information system (PRH open data), by business id. An ended VAT registration contradicts the
 * verdict.
 */
export const fiPrh: SourceDefinition = {
  name: 'fi_prh',
  url: 'https://avoindata.prh.fi',
  sample: { memberState: 'FI', national: '01120389' }, // Nokia
  appliesTo: ({ memberState, valid }) => memberState === 'FI' && valid,
  createRequest: ({ national }) => {
    const id = businessIdOf(national);
    return id
      ? { path: `/opendata-ytj-api/v3/companies?businessId=${id}` }
      : { skip: 'not a business id of eight digits' };
  },
  read: readAs(answerSchema, ({ companies }, { national }, todayIn) => {
    const id = businessIdOf(national);
    const company = companies.find(({ businessId }) => businessId.value === id);
    if (!company) return { outcome: 'not_found' };
    const names = company.names.filter(({ endDate }) => endDate === null);
    const name = (names.find(({ type }) => type === LEGAL_NAME) ?? names[0])?.name ?? null;
    const today = todayIn('Europe/Helsinki');
    const vat = vatEntryOf(company, today);
    const status = inEnglish(vat?.descriptions);
    const ended = vat?.endDate ?? null;
    return {
      outcome: 'found',
      contradicts: ended !== null,
      facts: {
        name,
        address: addressOf(company),
        legal_form: inEnglish(company.companyForms.find(({ endDate }) => endDate === null)?.descriptions),
        status,
        registered_since: vat?.registrationDate ?? null,
        // A company that has ended may have no entry in the VAT register, or one that was left open.
        registered_until: ended ?? pastEnd(company.endDate, today),
        register_id: id,
      },
      detail: [
        ['business id', id],
        ['name', name],
        ['vat register', status],
        ['since', vat?.registrationDate],
        ['until', ended],
        ['trade register status', company.tradeRegisterStatus],
        ['ended', company.endDate],
      ],
    };
  }),
};
