import { type Handler, json, SUBJECTS, text, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.de_evatr;

test('posts both numbers and returns the id and time of the confirmation', async () => {
  const answer = { id: 'c4e53ec694b7c2a6', anfrageZeitpunkt: '2026-11-20T11:05:04.392+01:00', status: 'evatr-0000' };
  await withLocalSource('de_evatr', json(answer), async ({ source, seen }) => {
    const { entry } = await source.consult(subject);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/app/v1/abfrage' });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ anfragendeUstid: 'DE123456788', angefragteUstid: 'ATU12345675' });
    expect(entry).toMatchObject({
      outcome: 'found',
      code: 'evatr-0000',
      detail: 'status: evatr-0000; request id: c4e53ec694b7c2a6; asked at: 2026-11-20T11:05:04.392+01:00',
    });
  });
});

test.each([
  { status: 'evatr-2008', http: 200, outcome: 'found' },
  { status: 'evatr-0003', http: 400, outcome: 'found' },
  { status: 'evatr-2001', http: 404, outcome: 'not_found' },
  { status: 'evatr-2002', http: 200, outcome: 'not_found' },
  { status: 'evatr-2006', http: 200, outcome: 'not_found' },
  { status: 'evatr-0005', http: 400, outcome: 'rejected' },
  { status: 'evatr-0006', http: 403, outcome: 'rejected' },
  { status: 'evatr-2005', http: 404, outcome: 'rejected' },
  { status: 'evatr-0008', http: 403, outcome: 'blocked' },
  { status: 'evatr-0011', http: 503, outcome: 'unavailable' },
  { status: 'evatr-1004', http: 500, outcome: 'unavailable' },
  { status: 'evatr-2001', http: 500, outcome: 'unavailable' },
  { status: 'evatr-9999', http: 200, outcome: 'unavailable' },
])('$status with HTTP $http is $outcome', async ({ status, http, outcome }) => {
  await withLocalSource('de_evatr', json({ id: 'x', status }, http), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome, code: status });
  });
});

test('returns the period in which a number was valid', async () => {
  const answer = { id: 'x', status: 'evatr-2006', gueltigAb: '2001-01-01', gueltigBis: '2020-12-31' };
  await withLocalSource('de_evatr', json(answer), async ({ source }) => {
    expect((await source.consult({ ...subject, valid: false })).entry.detail).toBe(
      'status: evatr-2006; request id: x; valid from: 2001-01-01; valid until: 2020-12-31',
    );
  });
});

const TRADER = { name: 'Musterhaus GmbH & Co KG', city: 'Wien' };
const compared = { ergFirmenname: 'A', ergStrasse: 'B', ergPlz: 'C', ergOrt: 'D' };

test('makes the qualified request with name and city, and returns the matches', async () => {
  const trader = { ...TRADER, street: 'Musterstrasse 1', postal_code: '1010', company_type: 'AT-1' };
  await withLocalSource('de_evatr', json({ id: 'x', status: 'evatr-0000', ...compared }), async ({ source, seen }) => {
    const { entry } = await source.consult({ ...subject, trader });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      anfragendeUstid: 'DE123456788',
      angefragteUstid: 'ATU12345675',
      firmenname: 'Musterhaus GmbH & Co KG',
      strasse: 'Musterstrasse 1',
      plz: '1010',
      ort: 'Wien',
    });
    expect(entry.facts).toEqual({
      status: 'evatr-0000',
      receipt: 'x',
      matches: { name: 'A', street: 'B', postal_code: 'C', city: 'D' },
    });
    expect(entry.detail).toContain('name: A; street: B; postal code: C; city: D');
  });
});

test('a part that was not requested is C, and one without a result is D', async () => {
  const trader = { ...TRADER, street: 'Musterstrasse 1' };
  await withLocalSource(
    'de_evatr',
    json({ status: 'evatr-0000', ergFirmenname: 'A', ergOrt: 'A' }),
    async ({ source }) => {
      expect((await source.consult({ ...subject, trader })).entry.facts?.matches).toEqual({
        ...{ name: 'A', street: 'D', postal_code: 'C', city: 'A' },
      });
    },
  );
});

test.each([{ name: 'Musterhaus GmbH' }, { city: 'Wien' }, { street: 'Musterstrasse 1' }, {}, null])(
  'makes the simple request for the trader %j',
  async (trader) => {
    await withLocalSource('de_evatr', json({ id: 'x', status: 'evatr-0000' }), async ({ source, seen }) => {
      const { entry } = await source.consult({ ...subject, trader });
      expect(Object.keys(JSON.parse(seen[0]?.body ?? ''))).toEqual(['anfragendeUstid', 'angefragteUstid']);
      expect(entry.facts).toEqual({ status: 'evatr-0000', receipt: 'x' });
    });
  },
);

test.each([
  { status: 'evatr-0000', valid: true, contradicts: undefined },
  { status: 'evatr-0000', valid: false, contradicts: true },
  { status: 'evatr-2001', valid: true, contradicts: true },
  { status: 'evatr-2001', valid: false, contradicts: undefined },
  { status: 'evatr-2006', valid: true, contradicts: true },
  { status: 'evatr-2005', valid: true, contradicts: undefined },
  { status: 'evatr-2011', valid: true, contradicts: undefined },
])('$status beside valid $valid: contradicts $contradicts', async ({ status, valid, contradicts }) => {
  await withLocalSource('de_evatr', json({ id: 'x', status }), async ({ source }) => {
    expect((await source.consult({ ...subject, valid })).entry.contradicts).toBe(contradicts);
  });
});

describe('for Greece', () => {
  const greek = { ...subject, memberState: 'EL' as const, national: '094014201' };
  const states = (...codes: string[]) => json(codes.map((alpha2) => ({ alpha2, name: alpha2, verfuegbar: true })));
  const office =
    (list: Handler): Handler =>
    (request, response) =>
      request.url === '/app/v1/info/eu_mitgliedstaaten'
        ? list(request, response)
        : json({ id: 'x', status: 'evatr-0000' })(request, response);

  test.each([
    { how: 'the list has EL', list: states('AT', 'EL'), prefix: 'EL' },
    { how: 'the list has GR', list: states('AT', 'GR'), prefix: 'GR' },
    { how: 'the list has both', list: states('GR', 'EL'), prefix: 'EL' },
    { how: 'the list has neither', list: states('AT'), prefix: 'EL' },
    { how: 'the list is HTML', list: text('<p>later'), prefix: 'EL' },
    { how: 'the list is a 503', list: json({}, 503), prefix: 'EL' },
    { how: 'the list never arrives', list: (() => undefined) as Handler, prefix: 'EL' },
  ])('$how: the number begins with $prefix', async ({ list, prefix }) => {
    await withLocalSource(
      'de_evatr',
      office(list),
      async ({ source, seen }) => {
        const { entry } = await source.consult(greek);
        expect(entry.outcome).toBe('found');
        expect(JSON.parse(seen.at(-1)?.body ?? '').angefragteUstid).toBe(`${prefix}094014201`);
      },
      { timeoutMs: 1_500 },
    );
  });

  test('the list is read once a day, ten minutes after it failed, and for no other member state', async () => {
    let at = Date.parse('2026-11-20T10:00:00.000Z');
    await withLocalSource(
      'de_evatr',
      office(json({}, 503)),
      async ({ source, seen, answer }) => {
        const lists = () => seen.filter(({ method }) => method === 'GET').length;
        await source.consult(subject);
        expect(lists()).toBe(0);
        await Promise.all([source.consult(greek), source.consult(greek)]);
        expect(lists()).toBe(1);
        answer(office(states('GR')));
        at += 599_000;
        await source.consult(greek);
        expect(lists()).toBe(1);
        at += 1_000;
        await source.consult(greek);
        at += 86_399_000;
        await source.consult(greek);
        expect(lists()).toBe(2);
        expect(JSON.parse(seen.at(-1)?.body ?? '').angefragteUstid).toBe('GR094014201');
        at += 1_000;
        await source.consult(greek);
        expect(lists()).toBe(3);
      },
      { now: () => new Date(at) },
    );
  });
});
