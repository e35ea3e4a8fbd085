import { json, SUBJECTS, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.de_evatr;

test('posts both numbers and keeps the id and time of the confirmation', async () => {
  const answer = { id: 'c4e53ec694b7c2a6', anfrageZeitpunkt: '2026-11-20T11:05:04.392+01:00', status: 'evatr-0000' };
  await withLocalSource('de_evatr', json(answer), async ({ source, seen }) => {
    const { entry } = await source.look(subject);
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
])('$status under a $http is $outcome', async ({ status, http, outcome }) => {
  await withLocalSource('de_evatr', json({ id: 'x', status }, http), async ({ source }) => {
    expect((await source.look(subject)).entry).toMatchObject({ outcome, code: status });
  });
});

test('says since when and until when a number was valid', async () => {
  const answer = { id: 'x', status: 'evatr-2006', gueltigAb: '2001-01-01', gueltigBis: '2020-12-31' };
  await withLocalSource('de_evatr', json(answer), async ({ source }) => {
    expect((await source.look({ ...subject, valid: false })).entry.detail).toBe(
      'status: evatr-2006; request id: x; valid from: 2001-01-01; valid until: 2020-12-31',
    );
  });
});
