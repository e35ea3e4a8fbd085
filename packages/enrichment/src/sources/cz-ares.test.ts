import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.cz_ares;
const FOUND = {
  ico: '00006947',
  obchodniJmeno: 'Ministerstvo financí',
  sidlo: { kodStatu: 'CZ', psc: 11800, textovaAdresa: 'Letenská 525/15, Malá Strana, 11800 Praha 1' },
  dic: 'CZ00006947',
  datumVzniku: '1992-12-16',
  seznamRegistraci: { stavZdrojeRos: 'AKTIVNI', stavZdrojeDph: 'AKTIVNI', stavZdrojeIr: 'NEEXISTUJICI' },
  pravniForma: '325',
  primarniZdroj: 'ros',
};

test('searches by IČO and returns the state in the VAT register', async () => {
  await withLocalSource('cz_ares', json(FOUND), async ({ source, seen }) => {
    const { entry } = await source.consult(subject);
    expect(seen[0]?.url).toBe('/ekonomicke-subjekty-v-be/rest/ekonomicke-subjekty/00006947');
    expect(entry).toMatchObject({
      outcome: 'found',
      detail:
        'name: Ministerstvo financí; vat register: AKTIVNI; dic: CZ00006947; ' +
        'address: Letenská 525/15, Malá Strana, 11800 Praha 1',
      facts: {
        name: 'Ministerstvo financí',
        address: 'Letenská 525/15, Malá Strana, 11800 Praha 1',
        legal_form: '325',
        status: 'AKTIVNI',
        register_id: '00006947',
      },
    });
  });
});

test('states the end of a subject, unless it is to come', async () => {
  await withLocalSource('cz_ares', json({ ...FOUND, datumZaniku: '2024-06-30' }), async ({ source, answer }) => {
    expect((await source.consult(subject)).entry.facts?.registered_until).toBe('2024-06-30');
    answer(json({ ...FOUND, datumZaniku: '2099-06-30' }));
    expect((await source.consult(subject)).entry.facts).not.toHaveProperty('registered_until');
  });
});

test('a 404 from ARES itself means that the subject is unknown', async () => {
  const answer = { kod: 'NENALEZENO', popis: 'Nenalezeno', subKod: 'VYSTUP_SUBJEKT_NENALEZEN' };
  await withLocalSource('cz_ares', json(answer, 404), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome: 'not_found', code: answer.subKod });
  });
});

test('a refused request has the code of ARES', async () => {
  await withLocalSource('cz_ares', json({ kod: 'CHYBA_VSTUPU', popis: 'x' }, 400), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome: 'rejected', code: 'CHYBA_VSTUPU' });
  });
});

test('no request is made for numbers of natural persons and VAT groups', async () => {
  await withLocalSource('cz_ares', json(FOUND), async ({ source, seen }) => {
    for (const national of ['640903926', '7103192745', '699000123']) {
      expect((await source.consult({ ...subject, national })).entry.outcome).toBe('skipped');
    }
    expect(seen).toEqual([]);
  });
});

test.each([
  { stavZdrojeDph: 'AKTIVNI', contradicts: undefined },
  { stavZdrojeDph: 'NEEXISTUJICI', contradicts: true },
  { stavZdrojeDph: 'UKONCENY', contradicts: true },
  { stavZdrojeDph: 'NEEXISTUJICI', stavZdrojeSkDph: 'AKTIVNI', contradicts: undefined },
  { stavZdrojeDph: 'SOMETHING_NEW', contradicts: undefined },
  { stavZdrojeDph: null, contradicts: undefined },
])('$stavZdrojeDph (group $stavZdrojeSkDph) beside a valid number: contradicts $contradicts', async (row) => {
  const { contradicts, ...seznamRegistraci } = row;
  await withLocalSource('cz_ares', json({ ...FOUND, seznamRegistraci }), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect([entry.contradicts, entry.facts?.status]).toEqual([contradicts, row.stavZdrojeDph ?? undefined]);
    expect(entry.facts?.vat_numbers).toEqual(row.stavZdrojeDph === null ? [FOUND.dic] : undefined);
  });
});
