import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.fr_recherche_entreprises;
const company = (over: object = {}) => ({
  siren: '303265045',
  nom_complet: 'SODIMAS',
  nom_raison_sociale: 'SODIMAS',
  etat_administratif: 'A',
  statut_diffusion: 'O',
  date_creation: '1975-01-01',
  siege: { siret: '30326504500017', adresse: '11 RUE AMPERE 26600 PONT-DE-L ISERE' },
  dirigeants: [{ nom: 'DUPONT', prenoms: 'JEANNE' }],
  ...over,
});
const answer = (...results: object[]) => json({ results, total_results: results.length, page: 1, per_page: 5 });

test('asks by SIREN and names the company and its state', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(company()), async ({ source, seen }) => {
    const { entry } = await source.look(subject);
    expect(seen[0]?.url).toBe('/search?q=303265045&page=1&per_page=5');
    expect(entry).toMatchObject({
      outcome: 'found',
      detail:
        'siren: 303265045; state: active; created: 1975-01-01; name: SODIMAS; ' +
        'address: 11 RUE AMPERE 26600 PONT-DE-L ISERE',
    });
  });
});

test.each(['P', 'N', undefined])('names nobody whose diffusion status is %s', async (statut_diffusion) => {
  const masked = company({ statut_diffusion, nom_complet: 'JEANNE DUPONT', etat_administratif: 'C' });
  await withLocalSource('fr_recherche_entreprises', answer(masked), async ({ source }) => {
    expect((await source.look(subject)).entry).toMatchObject({
      outcome: 'found',
      detail: 'siren: 303265045; state: ceased; diffusion: restricted',
    });
  });
});

test('a company that merely mentions the digits is not the one asked for', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(company({ siren: '111111111' })), async ({ source }) => {
    expect((await source.look(subject)).entry.outcome).toBe('not_found');
  });
});

test('an empty list is not_found', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(), async ({ source }) => {
    expect((await source.look(subject)).entry.outcome).toBe('not_found');
  });
});
