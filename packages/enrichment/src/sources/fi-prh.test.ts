import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.fi_prh;
const english = (description: string) => [
  { languageCode: '1', description: 'suomeksi' },
  { languageCode: '3', description },
];
const FOUND = {
  totalResults: 1,
  companies: [
    {
      businessId: { value: '0112038-9', registrationDate: '1978-03-15', source: '3' },
      names: [
        { name: 'Oy Nokia Ab', type: '1', registrationDate: '1966-01-01', endDate: '1997-08-31', version: 2 },
        { name: 'Nokia', type: '3', registrationDate: '1990-01-01', version: 1 },
        { name: 'Nokia Oyj', type: '1', registrationDate: '1997-09-01', version: 1 },
      ],
      registeredEntries: [
        {
          type: '1',
          descriptions: english('Registered'),
          registrationDate: '1896-12-19',
          register: '1',
          authority: '2',
        },
        {
          type: '81',
          descriptions: english('VAT-liable for primary production'),
          registrationDate: '1990-01-01',
          endDate: '1994-05-31',
          register: '6',
        },
        {
          type: '80',
          descriptions: english('VAT-liable for business activity'),
          registrationDate: '1994-06-01',
          register: '6',
        },
      ],
      companyForms: [{ type: '17', descriptions: english('Public limited company'), registrationDate: '1997-09-01' }],
      addresses: [
        { type: '2', postCode: '00045', postOffices: [{ city: 'NOKIA GROUP', languageCode: '1' }] },
        {
          ...{ type: 1, street: 'Karakaari', buildingNumber: '7', postCode: '02610' },
          postOffices: [{ city: 'ESPOO', languageCode: '1' }],
        },
      ],
      tradeRegisterStatus: '1',
      status: '2',
    },
  ],
};

test('searches by business id and returns the current name and VAT registration', async () => {
  await withLocalSource('fi_prh', json(FOUND), async ({ source, seen }) => {
    const { entry } = await source.consult(subject);
    expect(seen[0]?.url).toBe('/opendata-ytj-api/v3/companies?businessId=0112038-9');
    expect(entry).toMatchObject({
      outcome: 'found',
      detail:
        'business id: 0112038-9; name: Nokia Oyj; vat register: VAT-liable for business activity; ' +
        'since: 1994-06-01; trade register status: 1',
      facts: {
        name: 'Nokia Oyj',
        address: 'Karakaari 7, 02610 ESPOO',
        legal_form: 'Public limited company',
        status: 'VAT-liable for business activity',
        registered_since: '1994-06-01',
        register_id: '0112038-9',
      },
    });
    expect(entry).not.toHaveProperty('contradicts');
  });
});

test('an empty list or a list of other companies is not_found', async () => {
  await withLocalSource('fi_prh', json({ totalResults: 0, companies: [] }), async ({ source, answer }) => {
    expect((await source.consult(subject)).entry.outcome).toBe('not_found');
    answer(json(FOUND));
    expect((await source.consult({ ...subject, national: '20774740' })).entry.outcome).toBe('not_found');
  });
});

test('an ended VAT registration contradicts the verdict, and a missing one does not', async () => {
  const [company] = FOUND.companies;
  const [trade, , vat] = company?.registeredEntries ?? [];
  const withEntries = (...registeredEntries: unknown[]) =>
    json({ companies: [{ ...company, registeredEntries: [trade, ...registeredEntries] }] });
  const ended = { ...vat, endDate: '2020-12-31' };
  await withLocalSource('fi_prh', withEntries(ended, company?.registeredEntries[1]), async ({ source, answer }) => {
    expect((await source.consult(subject)).entry).toMatchObject({
      contradicts: true,
      facts: { registered_since: '1994-06-01', registered_until: '2020-12-31' },
    });
    answer(withEntries());
    const { entry } = await source.consult(subject);
    expect(entry.outcome).toBe('found');
    expect(entry).not.toHaveProperty('contradicts');
    expect(entry.facts).not.toHaveProperty('status');
  });
});

test.each([
  { how: 'an element that is null', more: [null], contradicts: true, since: '1994-06-01' },
  { how: 'an element that cannot be read', more: ['x'], contradicts: undefined, since: undefined },
])('$how beside an ended registration: contradicts $contradicts', async ({ more, contradicts, since }) => {
  const [company] = FOUND.companies;
  const ended = { ...company?.registeredEntries[2], endDate: '2020-12-31' };
  const answer = json({ companies: [{ ...company, registeredEntries: [ended, ...more] }] });
  await withLocalSource('fi_prh', answer, async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect([entry.contradicts, entry.facts?.registered_since]).toEqual([contradicts, since]);
    expect(entry.facts?.name).toBe('Nokia Oyj');
  });
});

test('one unreadable element of a list that decides nothing hides only itself', async () => {
  const [company] = FOUND.companies;
  const answer = json({ companies: [{ ...company, names: ['x', ...(company?.names ?? [])] }] });
  await withLocalSource('fi_prh', answer, async ({ source }) => {
    expect((await source.consult(subject)).entry.facts?.name).toBe('Nokia Oyj');
  });
});

test('a registration or company that ends later has not ended', async () => {
  const [company] = FOUND.companies;
  const [trade, , vat] = company?.registeredEntries ?? [];
  const ending = { ...company, endDate: '2099-12-31', registeredEntries: [trade, { ...vat, endDate: '2026-11-21' }] };
  await withLocalSource(
    'fi_prh',
    json({ companies: [ending] }),
    async ({ source }) => {
      const { entry } = await source.consult(subject);
      expect(entry).not.toHaveProperty('contradicts');
      expect(entry.facts).toMatchObject({ registered_since: '1994-06-01' });
      expect(entry.facts).not.toHaveProperty('registered_until');
    },
    { today: (timeZone) => (timeZone === 'Europe/Helsinki' ? '2026-11-20' : 'wrong zone') },
  );
});

test('states the end of a company that has ended, with or without a VAT registration', async () => {
  const [company] = FOUND.companies;
  const ended = { ...company, endDate: '2024-06-30' };
  await withLocalSource('fi_prh', json({ companies: [ended] }), async ({ source, answer }) => {
    expect((await source.consult(subject)).entry.facts).toMatchObject({ registered_until: '2024-06-30' });
    answer(json({ companies: [{ ...ended, registeredEntries: [] }] }));
    expect((await source.consult(subject)).entry.facts).toMatchObject({ registered_until: '2024-06-30' });
  });
});
