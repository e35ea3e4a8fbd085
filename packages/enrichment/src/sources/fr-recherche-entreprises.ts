import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition } from '../source-definition.js';

const resultSchema = z.object({
  siren: z.string(),
  nom_complet: lenientText,
  etat_administratif: lenientText,
  statut_diffusion: lenientText,
  date_creation: lenientText,
  siege: z.object({ adresse: lenientText }).nullable().catch(null).default(null),
});
const answerSchema = z.object({ results: z.array(resultSchema) });

const STATES: Readonly<Record<string, string>> = { A: 'active', C: 'ceased' };

// VAT numbers are two check characters and the SIREN; those of Monaco have the shape without being in the directory.
const sirenOf = (national: string) => /^..(\d{9})$/.exec(national)?.[1];

/**
 * The French directory of companies (recherche-entreprises, DINUM), by SIREN. Whoever opposed diffusion (status P) is
 * named nowhere in the check; so is anyone whose status is not plainly O, since opposition is a right.
 */
export const frRechercheEntreprises: SourceDefinition = {
  name: 'fr_recherche_entreprises',
  appliesTo: ({ memberState, valid }) => memberState === 'FR' && valid,
  ask: ({ national }) => {
    const siren = sirenOf(national);
    return siren ? { path: `/search?q=${siren}&page=1&per_page=5` } : { skip: 'the number holds no SIREN' };
  },
  read: (json, { national }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    // The search is full-text: another company may mention these nine digits.
    const company = answer.data.results.find(({ siren }) => siren === sirenOf(national));
    if (!company) return { outcome: 'not_found' };
    const open = company.statut_diffusion === 'O';
    const state = company.etat_administratif;
    return {
      outcome: 'found',
      facts: [
        ['siren', company.siren],
        ['state', state === null ? null : ((Object.hasOwn(STATES, state) ? STATES[state] : undefined) ?? state)],
        ['created', open ? company.date_creation : null],
        ['diffusion', open ? null : 'restricted'],
        ['name', open ? company.nom_complet : null],
        ['address', open ? company.siege?.adresse : null],
      ],
    };
  },
};
