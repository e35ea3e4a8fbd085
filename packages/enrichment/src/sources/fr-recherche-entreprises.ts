import { z } from 'zod';
import { lenientText, optional, pastEnd, readAs, wholeList } from '../register-fields.js';
import type { SourceDefinition } from '../source-definition.js';

const resultSchema = z.object({
  siren: z.string(),
  nom_complet: lenientText,
  etat_administratif: lenientText,
  statut_diffusion: lenientText,
  date_creation: lenientText,
  date_fermeture: lenientText,
  nature_juridique: lenientText,
  // The active VAT numbers of the company according to the tax authority (DGFiP); null or absent when it has none.
  tva: wholeList(z.string().trim().min(1)),
  siege: optional(z.object({ adresse: lenientText })),
});
const answerSchema = z.object({ results: z.array(resultSchema) });

const STATES: Readonly<Record<string, string>> = { A: 'active', C: 'ceased' };

// The limit is seven calls a second for one address. The gap is longer, because the times of arrival count.
const GAP_MS = 200;

const normalised = (number: string) => {
  const plain = number.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
  return plain.startsWith('FR') ? plain : `FR${plain}`;
};

// A VAT number is two check characters and the SIREN. Numbers of Monaco have the same form but are not in the
// directory.
const sirenOf = (national: string) => /^..(\d{9})$/.exec(national)?.[1];

/**
 * The French directory of companies (recherche-entreprises, DINUM), by SIREN. A check never names a company that opposed
 * diffusion (status P), nor one with any other status than O, since opposition is a right. `tva` is the tax authority's
 * list of active VAT numbers: if it is present and does not contain the number, the source contradicts the verdict.
 */
export const frRechercheEntreprises: SourceDefinition = {
  name: 'fr_recherche_entreprises',
  url: 'https://recherche-entreprises.api.gouv.fr',
  sample: { memberState: 'FR', national: '00130025265' }, // DINUM, which runs the directory
  gapMs: GAP_MS,
  appliesTo: ({ memberState, valid }) => memberState === 'FR' && valid,
  createRequest: ({ national }) => {
    const siren = sirenOf(national);
    return siren ? { path: `/search?q=${siren}&page=1&per_page=5` } : { skip: 'the number holds no SIREN' };
  },
  read: readAs(answerSchema, ({ results }, { national }, today) => {
    // The search is full-text: other companies may contain these nine digits.
    const company = results.find(({ siren }) => siren === sirenOf(national));
    if (!company) return { outcome: 'not_found' };
    const open = company.statut_diffusion === 'O';
    const state = company.etat_administratif;
    const stateName = state === null ? null : ((Object.hasOwn(STATES, state) ? STATES[state] : undefined) ?? state);
    const numbers = company.tva?.map(normalised) ?? null;
    return {
      outcome: 'found',
      contradicts: numbers !== null && !numbers.includes(`FR${national}`),
      facts: {
        name: open ? company.nom_complet : null,
        address: open ? (company.siege?.adresse ?? null) : null,
        legal_form: company.nature_juridique,
        status: state,
        // The end of the company: the directory has no dates of VAT registrations.
        registered_until: pastEnd(company.date_fermeture, today('Europe/Paris')),
        register_id: company.siren,
        vat_numbers: numbers,
      },
      detail: [
        ['siren', company.siren],
        ['state', stateName],
        ['vat numbers', numbers?.join(' ')],
        ['created', open ? company.date_creation : null],
        ['closed', company.date_fermeture],
        ['diffusion', open ? null : 'restricted'],
        ['name', open ? company.nom_complet : null],
        ['address', open ? company.siege?.adresse : null],
      ],
    };
  }),
};
