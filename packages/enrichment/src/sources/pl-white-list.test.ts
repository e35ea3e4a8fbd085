import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.pl_white_list;
const FOUND = {
  result: {
    subject: {
      name: 'MINISTERSTWO FINANSÓW',
      nip: '5260250274',
      statusVat: 'Czynny',
      regon: '000002217',
      pesel: null,
      krs: null,
      residenceAddress: null,
      workingAddress: 'ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA',
      representatives: [],
      accountNumbers: ['46101010100038832223000000', '73101010100038832230000000'],
      hasVirtualAccounts: false,
    },
    requestDateTime: '20-11-2026 11:05:12',
    requestId: 'aa111-2ab3c4d',
  },
};

test('asks for today in Warsaw and names status, request id and registers, but only the number of bank accounts', async () => {
  const now = () => new Date('2026-11-20T23:30:00.000Z');
  const body = async ({ source, seen }: Parameters<Parameters<typeof withLocalSource>[2]>[0]) => {
    const { entry } = await source.look(subject);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/api/search/nip/5260250274?date=2026-11-21', body: '' });
    expect(entry).toEqual({
      source: 'pl_white_list',
      outcome: 'found',
      attempts: 1,
      started_at: '2026-11-20T23:30:00.000Z',
      duration_ms: expect.any(Number),
      detail:
        'status: Czynny; request id: aa111-2ab3c4d; regon: 000002217; bank accounts: 2; name: MINISTERSTWO FINANSÓW; ' +
        'address: ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA',
    });
  };
  await withLocalSource('pl_white_list', json(FOUND), body, { now });
});

test('a number the list does not know keeps its request id', async () => {
  await withLocalSource(
    'pl_white_list',
    json({ result: { subject: null, requestId: 'x1-y2' } }),
    async ({ source }) => {
      expect((await source.look(subject)).entry).toMatchObject({ outcome: 'not_found', detail: 'request id: x1-y2' });
    },
  );
});

test.each([
  { code: 'WL-115', status: 400, outcome: 'rejected' },
  { code: 'WL-118', status: 400, outcome: 'rejected' },
  { code: 'WL-196', status: 400, outcome: 'unavailable' },
  { code: 'WL-196', status: 503, outcome: 'unavailable' },
])('$code under a $status is $outcome and keeps the code', async ({ code, status, outcome }) => {
  await withLocalSource('pl_white_list', json({ message: 'Nie.', code }, status), async ({ source }) => {
    expect((await source.look(subject)).entry).toMatchObject({ outcome, code });
  });
});

test('an answer about another number is no finding', async () => {
  await withLocalSource('pl_white_list', json(FOUND), async ({ source }) => {
    expect((await source.look({ ...subject, national: '7740001454' })).entry.outcome).toBe('unavailable');
  });
});

test('a number that is no NIP is not asked about', async () => {
  await withLocalSource('pl_white_list', json(FOUND), async ({ source, seen }) => {
    expect(await source.look({ ...subject, national: '12' })).toMatchObject({
      entry: { outcome: 'skipped', detail: 'not a NIP of ten digits' },
      exchange: null,
    });
    expect(seen).toEqual([]);
  });
});
