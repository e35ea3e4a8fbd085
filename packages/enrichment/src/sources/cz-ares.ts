import { z } from 'zod';
import { lenientText, optional, pastEnd, readAs } from '../register-fields.js';
import type { SourceDefinition } from '../source-definition.js';

const answerSchema = z.object({
  ico: lenientText,
  obchodniJmeno: z.string(),
  dic: lenientText,
  pravniForma: lenientText,
  datumZaniku: lenientText,
  sidlo: optional(z.object({ textovaAdresa: lenientText })),
  seznamRegistraci: optional(z.object({ stavZdrojeDph: lenientText, stavZdrojeSkDph: lenientText })),
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
  url: 'https://ares.gov.cz',
  sample: { memberState: 'CZ', national: '00006947' }, // Ministerstvo financí
  appliesTo: ({ memberState, valid }) => memberState === 'CZ' && valid,
  createRequest: ({ national }) =>
    /^\d{8}$/.test(national)
      ? { path: `/ekonomicke-subjekty-v-be/rest/ekonomicke-subjekty/${national}` }
      : { skip: 'not an IČO of eight digits (a natural person or VAT group)' },
  read: readAs(answerSchema, (data, { national }, today) => {
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
        registered_until: pastEnd(data.datumZaniku, today('Europe/Prague')),
        register_id: data.ico ?? national,
        // Without the state of the VAT register, what it states is the VAT number.
        vat_numbers: vat === null && data.dic !== null ? [data.dic] : null,
      },
      detail: [
        ['name', data.obchodniJmeno],
        ['vat register', vat],
        ['dic', data.dic],
        ['ended', data.datumZaniku],
        ['address', data.sidlo?.textovaAdresa],
      ],
    };
  }),
  readRefusal: readAs(refusalSchema, ({ kod, subKod }, status) => {
    const code = subKod ?? kod;
    if (status === 404) return { outcome: 'not_found', code };
    return status === 400 ? { outcome: 'rejected', code } : { outcome: 'unavailable', code };
  }),
};
