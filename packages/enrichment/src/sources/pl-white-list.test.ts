import { coalesceSubjects } from '../coalesce-subjects.js';
import { countedSearches, type Handler, json, SUBJECTS, text, withLocalSource } from '../local-source.fixture.js';

const subject = SUBJECTS.pl_white_list;
const FOUND = {
  name: 'MINISTERSTWO FINANSÓW',
  nip: '5260250274',
  statusVat: 'Czynny',
  regon: '000002217',
  pesel: null,
  krs: null,
  residenceAddress: null,
  workingAddress: 'ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA',
  representatives: [],
  registrationLegalDate: '1993-07-05',
  registrationDenialDate: null,
  restorationDate: null,
  removalDate: null,
  accountNumbers: ['46101010100038832223000000', '73101010100038832230000000'],
  hasVirtualAccounts: false,
};
const answer = (subjects: object[], identifier = '5260250274') => ({
  result: {
    entries: [{ identifier, subjects }],
    requestDateTime: '20-11-2026 11:05:12',
    requestId: 'aa111-2ab3c4d',
  },
});

/** The given count of numbers with correct check digits. */
const nips = (count: number): string[] => {
  const found: string[] = [];
  for (let n = 100_000_000; found.length < count; n += 1) {
    const digits = String(n);
    const sum = [6, 5, 7, 2, 3, 4, 5, 6, 7].reduce((total, weight, at) => total + weight * Number(digits[at]), 0);
    if (sum % 11 < 10) found.push(`${digits}${sum % 11}`);
  }
  return found;
};

const searched = (url: string) => /nips\/([\d,]+)/.exec(url)?.[1]?.split(',') ?? [];

/** Finds every number of the search. */
const knowsAll: Handler = (request, response) => {
  const entries = searched(request.url ?? '').map((nip) => ({
    identifier: nip,
    subjects: [{ ...FOUND, nip, name: `FIRMA ${nip}` }],
  }));
  json({ result: { entries, requestId: 'shared-1' } })(request, response);
};

test('searches for the current day in Warsaw and returns status, request id and registers, but only the number of bank accounts', async () => {
  const now = () => new Date('2026-11-20T23:30:00.000Z');
  const body = async ({ source, seen }: Parameters<Parameters<typeof withLocalSource>[2]>[0]) => {
    const { entry } = await source.consult(subject);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/api/search/nips/5260250274?date=2026-11-21', body: '' });
    expect(entry).toEqual({
      source: 'pl_white_list',
      outcome: 'found',
      attempts: 1,
      started_at: '2026-11-20T23:30:00.000Z',
      duration_ms: expect.any(Number),
      detail:
        'status: Czynny; request id: aa111-2ab3c4d; regon: 000002217; bank accounts: 2; name: MINISTERSTWO FINANSÓW; ' +
        'address: ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA',
      facts: {
        name: 'MINISTERSTWO FINANSÓW',
        address: 'ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA',
        status: 'Czynny',
        registered_since: '1993-07-05',
        register_id: '000002217',
        receipt: 'aa111-2ab3c4d',
      },
    });
  };
  await withLocalSource('pl_white_list', json(answer([FOUND])), body, { now });
});

test.each([
  { statusVat: 'Czynny', contradicts: undefined },
  { statusVat: 'Zwolniony', contradicts: true },
  { statusVat: 'Niezarejestrowany', contradicts: true },
  { statusVat: null, contradicts: undefined },
])('status $statusVat beside a valid number: contradicts $contradicts', async ({ statusVat, contradicts }) => {
  await withLocalSource('pl_white_list', json(answer([{ ...FOUND, statusVat }])), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect(entry.contradicts).toBe(contradicts);
    expect(entry.facts?.status).toBe(statusVat ?? undefined);
  });
});

test('a removed payer is registered until its removal, unless it was restored later', async () => {
  const removed = { ...FOUND, removalDate: '2024-03-01', restorationDate: null };
  await withLocalSource('pl_white_list', json(answer([removed])), async ({ source, answer: next }) => {
    expect((await source.consult(subject)).entry.facts?.registered_until).toBe('2024-03-01');
    next(json(answer([{ ...removed, restorationDate: '2024-05-01' }])));
    expect((await source.consult(subject)).entry.facts).not.toHaveProperty('registered_until');
  });
});

test('a removal to come is no end', async () => {
  const removed = { ...FOUND, removalDate: '2099-03-01' };
  await withLocalSource('pl_white_list', json(answer([removed])), async ({ source }) => {
    expect((await source.consult(subject)).entry.facts).not.toHaveProperty('registered_until');
  });
});

test('of several entries of one number the active one counts', async () => {
  const former = { ...FOUND, name: 'OLD', statusVat: 'Niezarejestrowany', removalDate: '2010-01-01' };
  await withLocalSource('pl_white_list', json(answer([former, FOUND])), async ({ source, answer: next }) => {
    const { entry } = await source.consult(subject);
    expect(entry).not.toHaveProperty('contradicts');
    expect(entry.facts).toMatchObject({ name: FOUND.name, status: 'Czynny' });
    next(json(answer([former])));
    expect((await source.consult(subject)).entry).toMatchObject({ contradicts: true, facts: { name: 'OLD' } });
  });
});

test.each([{ subjects: null }, {}])('an entry with %j states nothing about its number', async (entry) => {
  const body = { result: { entries: [{ identifier: '5260250274', ...entry }], requestId: 'x' } };
  await withLocalSource('pl_white_list', json(body), async ({ source }) => {
    const { entry } = await source.consult(subject);
    expect([entry.outcome, entry.contradicts]).toEqual(['unavailable', undefined]);
  });
});

test('a number that is not on the list has its request id and contradicts the verdict', async () => {
  await withLocalSource('pl_white_list', json(answer([])), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({
      outcome: 'not_found',
      detail: 'request id: aa111-2ab3c4d',
      facts: { receipt: 'aa111-2ab3c4d' },
      contradicts: true,
    });
  });
});

test('the format of earlier versions, one list of subjects, is read too', async () => {
  await withLocalSource(
    'pl_white_list',
    json({ result: { subjects: [FOUND], requestId: 'x1' } }),
    async ({ source }) => {
      expect((await source.consult(subject)).entry).toMatchObject({ outcome: 'found', facts: { receipt: 'x1' } });
    },
  );
});

test.each([
  { code: 'WL-115', status: 400, outcome: 'rejected' },
  { code: 'WL-118', status: 400, outcome: 'rejected' },
  { code: 'WL-196', status: 400, outcome: 'unavailable' },
  { code: 'WL-196', status: 503, outcome: 'unavailable' },
])('$code with HTTP $status is $outcome and has the code', async ({ code, status, outcome }) => {
  await withLocalSource('pl_white_list', json({ message: 'Nie.', code }, status), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome, code });
  });
});

test('a refused number in a search does not affect the other numbers', async () => {
  const refused = {
    result: { entries: [{ identifier: '5260250274', error: { code: 'WL-115', message: 'Nie.' } }], requestId: 'x' },
  };
  await withLocalSource('pl_white_list', json(refused), async ({ source }) => {
    expect((await source.consult(subject)).entry).toMatchObject({ outcome: 'rejected', code: 'WL-115' });
  });
});

test('an answer about another number is no finding', async () => {
  await withLocalSource('pl_white_list', json(answer([FOUND])), async ({ source }) => {
    expect((await source.consult({ ...subject, national: '7740001454' })).entry.outcome).toBe('unavailable');
  });
});

test.each(['12', '5260250275'])('no request is made for %s, which is not a NIP', async (national) => {
  await withLocalSource('pl_white_list', json(answer([FOUND])), async ({ source, seen }) => {
    expect(await source.consult({ ...subject, national })).toMatchObject({
      entry: { outcome: 'skipped', detail: 'not a NIP of ten digits with its check digit' },
      exchange: null,
    });
    expect(seen).toEqual([]);
  });
});

test('numbers of one account share searches of at most thirty, and each has its own part of the answer', async () => {
  const budget = countedSearches();
  const numbers = nips(40);
  await withLocalSource(
    'pl_white_list',
    knowsAll,
    async ({ source, seen }) => {
      const findings = await Promise.all(
        numbers.map((national) => source.consult({ ...subject, national, callerWaits: false })),
      );
      expect(seen.map(({ url }) => searched(url).length)).toEqual([30, 10]);
      expect(seen.flatMap(({ url }) => searched(url)).toSorted()).toEqual(numbers.toSorted());
      expect(findings.map(({ entry }) => entry.facts?.name)).toEqual(numbers.map((nip) => `FIRMA ${nip}`));
      expect([...budget.days.values()].map(({ used }) => used)).toEqual([2]);
      const [first] = findings;
      expect(first?.exchange?.request.url).toContain(numbers[0]);
      expect(Buffer.from(first?.exchange?.response?.body ?? []).toString()).toContain('shared-1');
    },
    { budget },
  );
});

test('two accounts never share a search, because their evidence would contain the numbers of the other', async () => {
  const [one = '', other = ''] = nips(2);
  await withLocalSource('pl_white_list', knowsAll, async ({ source, seen }) => {
    const findings = await Promise.all([
      source.consult({ ...subject, national: one, accountId: 'one' }),
      source.consult({ ...subject, national: other, accountId: 'other' }),
    ]);
    expect(seen.map(({ url }) => searched(url)).toSorted()).toEqual([[one], [other]].toSorted());
    for (const [at, number] of [one, other].entries())
      expect(findings[at]?.exchange?.request.url).not.toContain(number === one ? other : one);
  });
});

test('a subject with a waiting caller joins the others, and the search then starts without a longer delay', async () => {
  const [patient = '', hasty = ''] = nips(2);
  await withLocalSource('pl_white_list', knowsAll, async ({ source, seen }) => {
    await Promise.all([
      source.consult({ ...subject, national: patient, callerWaits: false }),
      source.consult({ ...subject, national: hasty, callerWaits: true }),
    ]);
    expect(seen.map(({ url }) => searched(url))).toEqual([[patient, hasty]]);
  });
  const searches: number[] = [];
  const coalesce = coalesceSubjects({
    ...{ size: 30, numberOf: ({ national }: typeof subject) => national },
    search: async (_subjects, waitedMs) => void searches.push(waitedMs),
  });
  await Promise.all([
    coalesce({ ...subject, national: patient }, 60_000),
    coalesce({ ...subject, national: hasty }, 10),
  ]);
  expect(searches).toHaveLength(1);
  expect(searches[0]).toBeLessThan(30_000);
});

test("when the day's searches are used up, the entry has this reason until midnight in Warsaw", async () => {
  let at = Date.parse('2026-11-20T22:59:00.000Z');
  await withLocalSource(
    'pl_white_list',
    json(answer([FOUND])),
    async ({ source, seen }) => {
      expect((await source.consult(subject)).entry.outcome).toBe('found');
      expect((await source.consult(subject)).entry.outcome).toBe('found');
      expect(await source.consult(subject)).toMatchObject({
        entry: {
          outcome: 'skipped',
          code: 'DAILY_SEARCHES_USED',
          detail: "the account's searches of this source for the day are used up until midnight (Europe/Warsaw)",
        },
        exchange: null,
      });
      expect(seen).toHaveLength(2);
      at += 60_000;
      expect((await source.consult(subject)).entry.outcome).toBe('found');
    },
    { now: () => new Date(at), dailySearches: 2 },
  );
});

test.each([
  { how: 'a 429', handler: text('', 429), code: undefined },
  { how: 'its daily limit in JSON', handler: json({ code: 'WL-191', message: 'limit' }, 429), code: 'WL-191' },
  { how: 'its daily limit with a 400', handler: json({ code: 'WL-191', message: 'limit' }, 400), code: 'WL-191' },
])('after $how no process of the fleet searches before midnight in Warsaw', async ({ handler, code }) => {
  let at = Date.parse('2026-11-20T10:00:00.000Z');
  const budget = countedSearches();
  const deps = { now: () => new Date(at), budget };
  await withLocalSource(
    'pl_white_list',
    handler,
    async ({ source, seen, answer: next }) => {
      const blocked = await source.consult(subject);
      expect(blocked.entry.outcome).toBe('blocked');
      expect(blocked.entry.code).toBe(code);
      next(json(answer([FOUND])));
      at = Date.parse('2026-11-20T22:59:59.000Z');
      const skipped = {
        outcome: 'skipped',
        code: 'BLOCKED_UNTIL_MIDNIGHT',
        detail: 'the source blocks us until midnight (Europe/Warsaw)',
      };
      expect((await source.consult(subject)).entry).toMatchObject(skipped);
      await withLocalSource(
        'pl_white_list',
        json(answer([FOUND])),
        async ({ source: ofAnotherProcess }) => {
          expect((await ofAnotherProcess.consult(subject)).entry).toMatchObject(skipped);
        },
        deps,
      );
      expect(seen).toHaveLength(1);
      at += 1_000;
      expect((await source.consult(subject)).entry.outcome).toBe('found');
    },
    deps,
  );
});

test('a count that cannot be read prevents the search and causes no delay', async () => {
  const never = () => new Promise<never>(() => undefined);
  const budget = { take: never, block: never };
  await withLocalSource(
    'pl_white_list',
    json(answer([FOUND])),
    async ({ source, seen }) => {
      const { entry } = await source.consult(subject);
      expect(entry).toMatchObject({ outcome: 'skipped', detail: "the count of the day's searches cannot be read" });
      expect(seen).toEqual([]);
    },
    { timeoutMs: 500, budget },
  );
});
