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
        forma_juridica: 'SOCIETATE COMERCIALĂ PE ACŢIUNI',
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

test('posts the number with the day in Bucharest and returns VAT registration and inactivity', async () => {
  await withLocalSource(
    'ro_anaf',
    json(FOUND),
    async ({ source, seen }) => {
      const { entry } = await source.consult({ ...subject, national: '0014056826' });
      expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/PlatitorTvaRest/v9/tva' });
      expect(seen[0]?.headers['content-type']).toBe('application/json');
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual([{ cui: 14056826, data: '2026-11-20' }]);
      expect(entry).toMatchObject({
        outcome: 'found',
        detail:
          'name: SNGN ROMGAZ SA; vat registered: yes; since: 2001-07-10; inactive: no; ' +
          'state: INREGISTRAT din data 10.07.2001; trade register: J32/392/2001; address: JUD. SIBIU, MUN. MEDIAŞ',
        facts: {
          name: 'SNGN ROMGAZ SA',
          address: 'JUD. SIBIU, MUN. MEDIAŞ',
          legal_form: 'SOCIETATE COMERCIALĂ PE ACŢIUNI',
          status: 'INREGISTRAT din data 10.07.2001',
          registered_since: '2001-07-10',
          register_id: 'J32/392/2001',
        },
      });
      expect(entry).not.toHaveProperty('contradicts');
    },
    { today: (timeZone) => (timeZone === 'Europe/Bucharest' ? '2026-11-20' : 'wrong zone') },
  );
});

const withVat = (inregistrare_scop_Tva: unknown) => ({
  ...FOUND,
  found: [{ ...FOUND.found[0], inregistrare_scop_Tva }],
});
const period = (since: string, until = '') => ({ data_inceput_ScpTVA: since, data_sfarsit_ScpTVA: until });
const OPEN = period('2015-03-01');
const ENDED = period('2001-07-10', '2012-06-30');
const EARLIER = period('1995-01-01', '1999-12-31');

test.each([
  { how: 'newest first', periods: [OPEN, ENDED], since: '2015-03-01', until: undefined },
  { how: 'oldest first', periods: [ENDED, OPEN], since: '2015-03-01', until: undefined },
  { how: 'all ended, newest first', periods: [ENDED, EARLIER], since: '2001-07-10', until: '2012-06-30' },
  { how: 'all ended, oldest first', periods: [EARLIER, ENDED], since: '2001-07-10', until: '2012-06-30' },
  {
    how: 'that end later',
    periods: [ENDED, period('2015-03-01', '2099-01-01')],
    since: '2015-03-01',
    until: undefined,
  },
  { how: 'that cannot be read whole', periods: [ENDED, 'x'], since: undefined, until: undefined },
  { how: 'none', periods: [], since: undefined, until: undefined },
  { how: 'one that is not a list', periods: OPEN, since: '2015-03-01', until: undefined },
])('for periods $how it returns the period from $since to $until', async ({ periods, since, until }) => {
  await withLocalSource('ro_anaf', json(withVat({ scpTVA: true, perioade_TVA: periods })), async ({ source }) => {
    const { facts } = (await source.consult(subject)).entry;
    expect([facts?.registered_since, facts?.registered_until]).toEqual([since, until]);
  });
});

test.each([
  { scpTVA: false, contradicts: true },
  { scpTVA: true, contradicts: undefined },
  { scpTVA: null, contradicts: undefined },
])('scpTVA $scpTVA beside a valid number: contradicts $contradicts', async ({ scpTVA, contradicts }) => {
  await withLocalSource('ro_anaf', json(withVat({ scpTVA, perioade_TVA: [] })), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect(entry.contradicts).toBe(contradicts);
    // Without a period this is all that it states about the registration.
    expect(entry.facts?.vat_numbers).toEqual(scpTVA ? [`RO${subject.national}`] : undefined);
  });
});

test('without a statement whether the number is registered, a period is no statement either', async () => {
  await withLocalSource('ro_anaf', json(withVat({ scpTVA: null, perioade_TVA: [OPEN] })), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect(entry.facts).not.toHaveProperty('registered_since');
    expect(entry).not.toHaveProperty('contradicts');
  });
});

test('the status of an inactive taxpayer says so, and does not contradict', async () => {
  const inactive = { ...FOUND, found: [{ ...FOUND.found[0], stare_inactiv: { statusInactivi: true } }] };
  await withLocalSource('ro_anaf', json(inactive), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect(entry.facts?.status).toBe('INREGISTRAT din data 10.07.2001; INACTIV');
    expect(entry).not.toHaveProperty('contradicts');
  });
});

test.each([
  { how: 'an empty list', body: { cod: 200, found: [], notFound: [14056826] }, status: 200, outcome: 'not_found' },
  { how: 'a 404 with the number', body: { cod: 404, notFound: [14056826] }, status: 404, outcome: 'not_found' },
  {
    how: 'the number as an object, as in earlier versions',
    body: { cod: 200, found: [], notFound: [{ cui: 14056826, data: '2026-11-20' }] },
    status: 200,
    outcome: 'not_found',
  },
  {
    how: 'an answer without the list of unknown numbers',
    body: { cod: 200, message: 'SUCCESS', found: [] },
    status: 200,
    outcome: 'unavailable',
  },
  { how: 'another number', body: { cod: 200, found: [], notFound: [999] }, status: 200, outcome: 'unavailable' },
  { how: 'a 404 with another number', body: { notFound: [1] }, status: 404, outcome: 'unavailable' },
  {
    how: 'an answer that names the number nowhere',
    body: { cod: 200, message: 'SUCCESS', found: [], notFound: [] },
    status: 200,
    outcome: 'unavailable',
  },
  {
    how: 'an error of ANAF inside a 200',
    body: { cod: 500, message: 'x', found: [] },
    status: 200,
    outcome: 'unavailable',
  },
])('maps $how to $outcome', async ({ body, status, outcome }) => {
  await withLocalSource('ro_anaf', json(body, status), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect([entry.outcome, entry.contradicts]).toEqual([outcome, outcome === 'not_found' ? true : undefined]);
  });
});

test('concurrent calls are spaced by a second; one that would wait too long is skipped', async () => {
  await withLocalSource(
    'ro_anaf',
    json(FOUND),
    async ({ source, seen }) => {
      const findings = await Promise.all([source.consult(subject), source.consult(subject), source.consult(subject)]);
      expect(findings.map(({ entry }) => entry.outcome)).toEqual(['found', 'found', 'skipped']);
      expect(findings[2]).toMatchObject({ exchange: null, entry: { detail: expect.stringContaining('limit') } });
      expect(seen).toHaveLength(2);
      expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
    },
    { timeoutMs: 1_500 },
  );
});

test('the wait for the rate limit ends when the caller aborts', async () => {
  await withLocalSource('ro_anaf', json(FOUND), async ({ source, seen }) => {
    await source.consult(subject);
    const stop = new AbortController();
    const waiting = source.consult(subject, stop.signal);
    stop.abort();
    const { entry } = await waiting;
    expect(entry.outcome).toBe('skipped');
    expect(seen).toHaveLength(1);
  });
});
