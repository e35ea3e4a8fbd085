import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition } from '../source-definition.js';

const flag = z.boolean().nullable().catch(null).default(null);
const periodSchema = z.object({ data_inceput_ScpTVA: lenientText });
const companySchema = z.object({
  date_generale: z.object({
    cui: lenientText,
    denumire: lenientText,
    adresa: lenientText,
    nrRegCom: lenientText,
    stare_inregistrare: lenientText,
  }),
  inregistrare_scop_Tva: z
    .object({ scpTVA: flag, perioade_TVA: z.array(periodSchema).catch([]).default([]) })
    .nullable()
    .catch(null)
    .default(null),
  stare_inactiv: z.object({ statusInactivi: flag }).nullable().catch(null).default(null),
});
const answerSchema = z.object({ cod: z.literal(200).optional(), found: z.array(companySchema) });
const notFoundSchema = z.object({ notFound: z.array(z.unknown()).min(1) });

// A little over the second ANAF asks for: what counts there is when the calls arrive, not when they leave.
const GAP_MS = 1_100;

/**
 * Romania's register of VAT payers (ANAF), asked about today in Bucharest; one call a second. A number ANAF does not
 * know comes as an empty `found`, also under a 404.
 */
export const roAnaf: SourceDefinition = {
  name: 'ro_anaf',
  gapMs: GAP_MS,
  appliesTo: ({ memberState, valid }) => memberState === 'RO' && valid,
  ask: ({ national }, today) =>
    /^\d{2,10}$/.test(national)
      ? { path: '/api/PlatitorTvaRest/v9/tva', json: [{ cui: Number(national), data: today('Europe/Bucharest') }] }
      : { skip: 'not a CUI of two to ten digits' },
  read: (json, { national }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    const { found } = answer.data;
    if (found.length === 0) return { outcome: 'not_found' };
    const asked = String(Number(national));
    const company = found.find(({ date_generale: { cui } }) => cui === null || cui === asked);
    if (!company) return null;
    const { date_generale: general, inregistrare_scop_Tva: vat, stare_inactiv: inactive } = company;
    return {
      outcome: 'found',
      facts: [
        ['name', general.denumire],
        ['vat registered', vat?.scpTVA],
        ['since', vat?.perioade_TVA.at(-1)?.data_inceput_ScpTVA],
        ['inactive', inactive?.statusInactivi],
        ['state', general.stare_inregistrare],
        ['trade register', general.nrRegCom],
        ['address', general.adresa],
      ],
    };
  },
  readRefusal: (json, status) =>
    status === 404 && notFoundSchema.safeParse(json).success ? { outcome: 'not_found' } : null,
};
