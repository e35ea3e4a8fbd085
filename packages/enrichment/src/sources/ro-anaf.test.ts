import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.ro_anaf;
const FOUND = {
  cod: 200,
  message: 'SUCCESS',
  found: [
    {
      date_generale: {
        cui: 14056826,
        data: '2026-11-20',
        denumire: 'SNGN ROMGAZ SA',
        adresa: 'JUD. SIBIU, MUN. MEDIAŞ',
        nrRegCom: 'J32/392/2001',
        stare_inregistrare: 'INREGISTRAT din data 10.07.2001',
        iban: '',
      },
      inregistrare_scop_Tva: {
        scpTVA: true,
        perioade_TVA: [{ data_inceput_ScpTVA: '2001-07-10', data_sfarsit_ScpTVA: '', mesaj_ScpTVA: '' }],
      },
      stare_inactiv: { statusInactivi: false, dataInactivare: '' },
    },
  ],
  notFound: [],
};

test('posts the number with the day in Bucharest and names VAT registration and inactivity', async () => {
  await withLocalSource(
    'ro_anaf',
    json(FOUND),
    async ({ source, seen }) => {
      const { entry } = await source.look({ ...subject, national: '0014056826' });
      expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/PlatitorTvaRest/v9/tva' });
      expect(seen[0]?.headers['content-type']).toBe('application/json');
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual([{ cui: 14056826, data: '2026-11-20' }]);
      expect(entry).toMatchObject({
        outcome: 'found',
        detail:
          'name: SNGN ROMGAZ SA; vat registered: yes; since: 2001-07-10; inactive: no; ' +
          'state: INREGISTRAT din data 10.07.2001; trade register: J32/392/2001; address: JUD. SIBIU, MUN. MEDIAŞ',
      });
    },
    { today: (timeZone) => (timeZone === 'Europe/Bucharest' ? '2026-11-20' : 'wrong zone') },
  );
});

test.each([
  { how: 'an empty list', body: { cod: 200, found: [], notFound: [14056826] }, status: 200, outcome: 'not_found' },
  { how: 'a 404 that lists it', body: { cod: 404, notFound: [14056826] }, status: 404, outcome: 'not_found' },
  {
    how: 'an error of ANAF inside a 200',
    body: { cod: 500, message: 'x', found: [] },
    status: 200,
    outcome: 'unavailable',
  },
])('makes $outcome of $how', async ({ body, status, outcome }) => {
  await withLocalSource('ro_anaf', json(body, status), async ({ source }) => {
    expect((await source.look(subject)).entry.outcome).toBe(outcome);
  });
});

test('calls at once are spaced by a second; one that would wait too long is skipped, none is late', async () => {
  const timeoutMs = 1_500;
  await withLocalSource(
    'ro_anaf',
    json(FOUND),
    async ({ source, seen }) => {
      const findings = await Promise.all([source.look(subject), source.look(subject), source.look(subject)]);
      expect(findings.map(({ entry }) => entry.outcome)).toEqual(['found', 'found', 'skipped']);
      expect(findings[2]).toMatchObject({ exchange: null, entry: { detail: expect.stringContaining('limit') } });
      expect(seen).toHaveLength(2);
      expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
      for (const { entry } of findings) expect(entry.duration_ms).toBeLessThan(timeoutMs + 200);
    },
    { timeoutMs },
  );
});

test('waiting for a turn ends when the caller gives up', async () => {
  await withLocalSource('ro_anaf', json(FOUND), async ({ source, seen }) => {
    await source.look(subject);
    const stop = new AbortController();
    const waiting = source.look(subject, stop.signal);
    stop.abort();
    const { entry } = await waiting;
    expect(entry.outcome).toBe('skipped');
    expect(entry.duration_ms).toBeLessThan(500);
    expect(seen).toHaveLength(1);
  });
});
