import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.gleif;
const record = (name: string, country: string, lei = '5493005EVTBPP8EJRQ58') => ({
  type: 'lei-records',
  id: lei,
  attributes: {
    lei,
    entity: {
      legalName: { name, language: 'en' },
      legalAddress: {
        addressLines: ['Gordon House', 'Barrow Street'],
        city: 'Dublin',
        postalCode: 'D04 E5W5',
        country,
      },
      legalForm: { id: 'LGWG', other: null },
      registeredAs: '368047',
      status: 'ACTIVE',
    },
    registration: { status: 'ISSUED', nextRenewalDate: '2027-03-01T00:00:00Z' },
  },
});
const answer = (...data: object[]) => json({ meta: { pagination: { total: data.length } }, data });

test('searches by name and country, and finds only the same name', async () => {
  const handler = answer(record('Google Ireland Holdings', 'IE', 'other'), record('Google Ireland Limited', 'IE'));
  await withLocalSource('gleif', handler, async ({ source, seen }) => {
    const { entry } = await source.consult(subject);
    const url = new URL(seen[0]?.url ?? '', 'http://localhost');
    expect(url.pathname).toBe('/api/v1/lei-records');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'filter[entity.legalName]': 'GOOGLE IRELAND LIMITED',
      'filter[entity.legalAddress.country]': 'IE',
      'page[size]': '10',
    });
    expect(entry).toMatchObject({
      outcome: 'found',
      detail:
        'lei: 5493005EVTBPP8EJRQ58; entity: ACTIVE; registration: ISSUED; next renewal: 2027-03-01T00:00:00Z; ' +
        'registered as: 368047; name: Google Ireland Limited',
      facts: {
        name: 'Google Ireland Limited',
        address: 'Gordon House, Barrow Street, D04 E5W5 Dublin, IE',
        legal_form: 'LGWG',
        status: 'ACTIVE',
        register_id: '5493005EVTBPP8EJRQ58',
      },
    });
    expect(seen[0]?.headers.accept).toBe('application/vnd.api+json');
  });
});

test('similar names, and the same name in another country, are not found but counted', async () => {
  const handler = answer(record('Google Ireland Holdings', 'IE'), record('Google Ireland Limited', 'FR'));
  await withLocalSource('gleif', handler, async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome: 'not_found', detail: 'similar names: 2' });
  });
});

test('does not choose between entities of the same name', async () => {
  const handler = answer(record('Google Ireland Limited', 'IE', 'A'), record('GOOGLE IRELAND LIMITED', 'IE', 'B'));
  await withLocalSource('gleif', handler, async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({
      outcome: 'found',
      detail: 'entities of this name: 2',
    });
  });
});

test('uses the legal name of a Greek answer, searches in GR, and removes commas, which would split the filter', async () => {
  const greek = { ...subject, memberState: 'EL' as const, name: 'ΑΛΦΑ ΤΡΑΠΕΖΑ, Α.Ε.||ALPHA BANK' };
  await withLocalSource('gleif', answer(record('Αλφα Τράπεζα Α.Ε.', 'GR')), async ({ source, seen }) => {
    expect((await source.consult(greek)).entry.outcome).toBe('found');
    const query = new URL(seen[0]?.url ?? '', 'http://localhost').searchParams;
    expect(query.get('filter[entity.legalName]')).toBe('ΑΛΦΑ ΤΡΑΠΕΖΑ Α.Ε.');
    expect(query.get('filter[entity.legalAddress.country]')).toBe('GR');
  });
});

test('no request is made for a name of only punctuation', async () => {
  await withLocalSource('gleif', answer(), async ({ source, seen }) => {
    expect(source.appliesTo({ ...subject, name: '---' })).toBe(false);
    expect((await source.consult({ ...subject, name: '---' })).entry.outcome).toBe('skipped');
    expect(seen).toEqual([]);
  });
});

test('searches by the number in a national register if one was found, and returns the name as registered', async () => {
  const known = { ...subject, memberState: 'RO' as const, registerId: 'J32/392/2001', name: 'ROMGAZ' };
  const registered = (registeredAs: string, country: string, lei?: string) => {
    const made = record('Societatea Nationala de Gaze Naturale', country, lei);
    return { ...made, attributes: { ...made.attributes, entity: { ...made.attributes.entity, registeredAs } } };
  };
  const handler = answer(registered('J32/392/2001', 'DE', 'A'), registered('J 32-392-2001', 'RO', 'B'));
  await withLocalSource('gleif', handler, async ({ source, seen, answer: next }) => {
    expect((await source.consult(known)).entry).toMatchObject({ outcome: 'found', facts: { register_id: 'B' } });
    const url = new URL(seen[0]?.url ?? '', 'http://localhost');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'filter[entity.registeredAs]': 'J32/392/2001',
      'filter[entity.legalAddress.country]': 'RO',
      'page[size]': '10',
    });
    next(answer(registered('J32/392/2002', 'RO')));
    expect((await source.consult(known)).entry).toMatchObject({
      outcome: 'not_found',
      detail: 'similar register numbers: 1',
    });
  });
});

test('concurrent calls are spaced by a second', async () => {
  await withLocalSource('gleif', answer(), async ({ source }) => {
    const findings = await Promise.all([source.consult(subject), source.consult(subject)]);
    const times = findings.map(({ exchange }) => exchange?.startedAt.getTime() ?? 0).toSorted((a, b) => a - b);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
  });
});
