import { z } from 'zod';
import { lenientText } from '../read-answer.js';
import type { SourceDefinition } from '../source-definition.js';

const answerSchema = z.object({
  ico: lenientText,
  obchodniJmeno: z.string(),
  dic: lenientText,
  pravniForma: lenientText,
  datumZaniku: lenientText,
  sidlo: z.object({ textovaAdresa: lenientText }).nullable().catch(null).default(null),
  seznamRegistraci: z
    .object({ stavZdrojeDph: lenientText, stavZdrojeSkDph: lenientText })
    .nullable()
    .catch(null)
    .default(null),
});
const ACTIVE = 'AKTIVNI';
/** The states of a subject that is not, or no longer, in the VAT register. Other states are no statement about it. */
const NOT_REGISTERED = ['NEEXISTUJICI', 'UKONCENY', 'ZANIKLY', 'ZRUSENY', 'HISTORICKY'];

const refusalSchema = z.object({ kod: z.string(), subKod: lenientText });

/**
 * The Czech register of economic subjects (ARES, Ministry of Finance). Only eight-digit numbers are an IČO; longer ones
 * belong to natural persons and VAT groups, which ARES does not list under that number.
 */
export const czAres: SourceDefinition = {
  name: 'cz_ares',
  appliesTo: ({ memberState, valid }) => memberState === 'CZ' && valid,
  createRequest: ({ national }) =>
    /^\d{8}$/.test(national)
      ? { path: `/ekonomicke-subjekty-v-be/rest/ekonomicke-subjekty/${national}` }
      : { skip: 'not an IČO of eight digits (a natural person or VAT group)' },
  read: (json, { national }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    const { data } = answer;
    if (data.ico !== null && data.ico.padStart(8, '0') !== national) return null;
    const vat = data.seznamRegistraci?.stavZdrojeDph ?? null;
    // Members of a VAT group are registered through the group.
    const inGroup = data.seznamRegistraci?.stavZdrojeSkDph === ACTIVE;
    return {
      outcome: 'found',
      contradicts: vat !== null && NOT_REGISTERED.includes(vat) && !inGroup,
      facts: {
        name: data.obchodniJmeno,
        address: data.sidlo?.textovaAdresa ?? null,
        legal_form: data.pravniForma,
        status: vat,
        registered_until: data.datumZaniku,
        register_id: data.ico ?? national,
      },
      detail: [
        ['name', data.obchodniJmeno],
        ['vat register', vat],
        ['dic', data.dic],
        ['ended', data.datumZaniku],
        ['address', data.sidlo?.textovaAdresa],
      ],
    };
  },
  readRefusal: (json, status) => {
    const refusal = refusalSchema.safeParse(json);
    if (!refusal.success) return null;
    const code = refusal.data.subKod ?? refusal.data.kod;
    if (status === 404) return { outcome: 'not_found', code };
    return status === 400 ? { outcome: 'rejected', code } : { outcome: 'unavailable', code };
  },
};
