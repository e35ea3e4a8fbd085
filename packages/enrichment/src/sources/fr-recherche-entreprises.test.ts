import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.fr_recherche_entreprises;
const company = (over: object = {}) => ({
  siren: '303265045',
  nom_complet: 'SODIMAS',
  nom_raison_sociale: 'SODIMAS',
  etat_administratif: 'A',
  statut_diffusion: 'O',
  date_creation: '1975-01-01',
  nature_juridique: '5599',
  tva: ['FR40303265045'],
  siege: { siret: '30326504500017', adresse: '11 RUE AMPERE 26600 PONT-DE-L ISERE' },
  dirigeants: [{ nom: 'DUPONT', prenoms: 'JEANNE' }],
  ...over,
});
const answer = (...results: object[]) => json({ results, total_results: results.length, page: 1, per_page: 5 });

test('searches by SIREN and returns the company and its state', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(company()), async ({ source, seen }) => {
    const { entry } = await source.consult(subject);
    expect(seen[0]?.url).toBe('/search?q=303265045&page=1&per_page=5');
    expect(entry).toMatchObject({
      outcome: 'found',
      detail:
        'siren: 303265045; state: active; vat numbers: FR40303265045; created: 1975-01-01; name: SODIMAS; ' +
        'address: 11 RUE AMPERE 26600 PONT-DE-L ISERE',
      facts: {
        name: 'SODIMAS',
        address: '11 RUE AMPERE 26600 PONT-DE-L ISERE',
        legal_form: '5599',
        status: 'A',
        register_id: '303265045',
        vat_numbers: ['FR40303265045'],
      },
    });
    expect(entry).not.toHaveProperty('contradicts');
  });
});

test.each(['P', 'N', undefined])('returns no name when the diffusion status is %s', async (statut_diffusion) => {
  const masked = company({ statut_diffusion, nom_complet: 'JEANNE DUPONT', etat_administratif: 'C' });
  await withLocalSource('fr_recherche_entreprises', answer(masked), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({
      outcome: 'found',
      detail: 'siren: 303265045; state: ceased; vat numbers: FR40303265045; diffusion: restricted',
    });
    expect(JSON.stringify((await source.consult(subject)).entry)).not.toMatch(/DUPONT|AMPERE/);
  });
});

test('states the end of a company that has closed', async () => {
  const closed = company({ etat_administratif: 'C', date_fermeture: '2024-06-30' });
  await withLocalSource('fr_recherche_entreprises', answer(closed), async ({ source }) => {
    expect((await source.consult(subject)).entry.facts).toMatchObject({ status: 'C', registered_until: '2024-06-30' });
  });
});

test('a company that only contains the digits is not a match', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(company({ siren: '111111111' })), async ({ source }) => {
    expect((await source.consult(subject)).entry.outcome).toBe('not_found');
  });
});

test('an empty list is not_found', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(), async ({ source }) => {
    expect((await source.consult(subject)).entry.outcome).toBe('not_found');
  });
});

test.each([
  { tva: ['FR40303265045'], contradicts: undefined },
  { tva: ['FR 40 303 265 045', 'FR41303265045'], contradicts: undefined },
  { tva: ['40303265045'], contradicts: undefined },
  { tva: ['FR41303265045'], contradicts: true },
  { tva: [], contradicts: true },
  { tva: ['FR41303265045', null], contradicts: true },
  { tva: ['FR40303265045', null], contradicts: undefined },
  { tva: null, contradicts: undefined },
  { tva: undefined, contradicts: undefined },
])('the list $tva beside a valid number: contradicts $contradicts', async ({ tva, contradicts }) => {
  await withLocalSource('fr_recherche_entreprises', answer(company({ tva })), async ({ source }) => {
    expect((await source.consult(subject)).entry.contradicts).toBe(contradicts);
  });
});

test.each([
  { tva: ['FR41303265045', { numero: 'x' }] },
  { tva: ['FR40303265045', 5] },
  { tva: [null] },
  { tva: [' '] },
])('the list $tva, which cannot be read whole, is not stated and contradicts nothing', async ({ tva }) => {
  await withLocalSource('fr_recherche_entreprises', answer(company({ tva })), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect([entry.outcome, entry.contradicts, entry.facts?.vat_numbers]).toEqual(['found', undefined, undefined]);
  });
});

test('a company that closes later has not ended', async () => {
  const closes = answer(company({ date_fermeture: '2099-06-30' }));
  await withLocalSource('fr_recherche_entreprises', closes, async ({ source }) => {
    expect((await source.consult(subject)).entry.facts).not.toHaveProperty('registered_until');
  });
});

test('concurrent calls are spaced by a fifth of a second', async () => {
  await withLocalSource('fr_recherche_entreprises', answer(company()), async ({ source }) => {
    const findings = await Promise.all([source.consult(subject), source.consult(subject), source.consult(subject)]);
    // From the first consultation to the last call: on a busy machine the first call departs late, and two can arrive together.
    const calledAt = Math.min(...findings.map(({ entry }) => Date.parse(entry.started_at)));
    const departedAt = Math.max(...findings.map(({ exchange }) => exchange?.startedAt.getTime() ?? 0));
    expect(departedAt - calledAt).toBeGreaterThanOrEqual(390);
  });
});
