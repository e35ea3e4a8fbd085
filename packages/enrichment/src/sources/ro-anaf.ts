import type { EnrichmentSubject } from '@vat/domain';
import { z } from 'zod';
import { lenientList, lenientText, optional, pastEnd, readAs, wholeList } from '../register-fields.js';
import type { SourceDefinition, SourceReading } from '../source-definition.js';

const flag = optional(z.boolean());
const periodSchema = z.object({ data_inceput_ScpTVA: lenientText, data_sfarsit_ScpTVA: lenientText });
type Period = z.output<typeof periodSchema>;
// In earlier versions a single period was an object instead of a list.
const periodsSchema = z.union([periodSchema.transform((period) => [period]), wholeList(periodSchema)]);
const companySchema = z.object({
  date_generale: z.object({
    cui: lenientText,
    denumire: lenientText,
    adresa: lenientText,
    nrRegCom: lenientText,
    stare_inregistrare: lenientText,
    forma_juridica: lenientText,
  }),
  inregistrare_scop_Tva: optional(z.object({ scpTVA: flag, perioade_TVA: periodsSchema })),
  stare_inactiv: optional(z.object({ statusInactivi: flag })),
});
// The numbers that ANAF does not know; in earlier versions each was an object that repeats the request.
const notFoundSchema = z.object({
  notFound: lenientList(z.union([z.object({ cui: lenientText }).transform(({ cui }) => cui), lenientText])),
});
const answerSchema = notFoundSchema.extend({ cod: z.literal(200).optional(), found: z.array(companySchema) });

/** What the status of a taxpayer says besides, when it is on ANAF's list of inactive ones. */
const INACTIVE = 'INACTIV';

// ANAF requires one second between calls. The gap is longer, because the times of arrival count.
const GAP_MS = 1_100;

/** Only ANAF's own words that it does not know this very number contradict; otherwise it states nothing about it. */
const readUnknown = (notFound: readonly (string | null)[], national: string): SourceReading | null =>
  notFound.some((cui) => cui !== null && Number(cui) === Number(national))
    ? { outcome: 'not_found', contradicts: true }
    : null;

/** The period without an end, else the latest. The order of the list is not documented. */
const periodOf = (listed: readonly Period[], today: string): Period | undefined => {
  const periods = listed.map((period) => ({
    ...period,
    data_sfarsit_ScpTVA: pastEnd(period.data_sfarsit_ScpTVA, today),
  }));
  const byStart = periods.toSorted((a, b) => (a.data_inceput_ScpTVA ?? '').localeCompare(b.data_inceput_ScpTVA ?? ''));
  return byStart.findLast(({ data_sfarsit_ScpTVA: end }) => end === null) ?? byStart.at(-1);
};

/**
 * Romania's register of VAT payers (ANAF), for the current day in Bucharest; one call a second. For an unknown number
 * `found` is empty, also with a 404. It is a register of VAT payers, so an unknown number contradicts the verdict.
 */
export const roAnaf: SourceDefinition = {
  name: 'ro_anaf',
  url: 'https://webservicesp.anaf.ro',
  sample: { memberState: 'RO', national: '14056826' }, // Romgaz
  gapMs: GAP_MS,
  appliesTo: ({ memberState, valid }) => memberState === 'RO' && valid,
  createRequest: ({ national }, { today }) =>
    /^\d{2,10}$/.test(national)
      ? { path: '/api/PlatitorTvaRest/v9/tva', json: [{ cui: Number(national), data: today('Europe/Bucharest') }] }
      : { skip: 'not a CUI of two to ten digits' },
  read: readAs(answerSchema, ({ found, notFound }, { national }, today) => {
    if (found.length === 0) return readUnknown(notFound, national);
    const expected = String(Number(national));
    const company = found.find(({ date_generale: { cui } }) => cui === null || cui === expected);
    if (!company) return null;
    const { date_generale: general, inregistrare_scop_Tva: vat, stare_inactiv: inactive } = company;
    // A period is evidence only beside ANAF's statement whether the number is registered today.
    const isStated = typeof vat?.scpTVA === 'boolean';
    const period = isStated ? periodOf(vat.perioade_TVA ?? [], today('Europe/Bucharest')) : undefined;
    const status = [general.stare_inregistrare, inactive?.statusInactivi ? INACTIVE : null].filter(Boolean).join('; ');
    return {
      outcome: 'found',
      contradicts: vat?.scpTVA === false,
      facts: {
        name: general.denumire,
        address: general.adresa,
        legal_form: general.forma_juridica,
        status,
        registered_since: period?.data_inceput_ScpTVA ?? null,
        registered_until: period?.data_sfarsit_ScpTVA ?? null,
        register_id: general.nrRegCom,
        // Without a start, what it states is that this is a VAT number.
        vat_numbers: vat?.scpTVA === true && !period?.data_inceput_ScpTVA ? [`RO${national}`] : null,
      },
      detail: [
        ['name', general.denumire],
        ['vat registered', vat?.scpTVA],
        ['since', period?.data_inceput_ScpTVA],
        ['until', period?.data_sfarsit_ScpTVA],
        ['inactive', inactive?.statusInactivi],
        ['state', general.stare_inregistrare],
        ['trade register', general.nrRegCom],
        ['address', general.adresa],
      ],
    };
  }),
  readRefusal: readAs(notFoundSchema, ({ notFound }, status, { national }: EnrichmentSubject) =>
    status === 404 ? readUnknown(notFound, national) : null,
  ),
};
