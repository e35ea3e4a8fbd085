import { newUuid, uuidOf } from '@vat/domain';
import { insertEarlierChecks, type LocalServer, openHttpServer, type TestAccount, until } from '@vat/testkit';
import type { Request, Route } from 'playwright-core';
import { type Dashboard, NARROW, openDashboard, type Visit, WIDE } from './testing/open-dashboard.fixture.js';
import { saveScreenshot } from './testing/save-screenshot.fixture.js';

const EMAIL = 'owner@example.com';
const HOSTILE = '<img src=x onerror=alert(1)> "Ünï" & Söhne';

let dashboard: Dashboard;
let visit: Visit;
let account: TestAccount;
/** A fake ARES that reports no VAT registration. */
let register: LocalServer;
const ARES_ANSWER = {
  obchodniJmeno: `Ministerstvo ${HOSTILE}`,
  sidlo: { textovaAdresa: 'Letenská 525/15, 11800 Praha 1' },
  seznamRegistraci: { stavZdrojeDph: 'NEEXISTUJICI' },
};
beforeAll(async () => {
  register = await openHttpServer((_request, response) => void response.end(JSON.stringify(ARES_ANSWER)));
  dashboard = await openDashboard({
    settings: {
      BACKGROUND_RETRY_DELAYS: '1s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      ENRICHMENT_SOURCES: 'cz_ares',
      ENRICHMENT_CZ_ARES_URL: register.url,
    },
  });
  account = await dashboard.account(EMAIL);
  visit = await dashboard.visit({ refused: /\/app\/api\/(checks$|requests\?.*cursor=)/ });
  await visit.enter(EMAIL);
});
afterAll(async () => {
  await dashboard?.close();
  await register?.close();
});
beforeEach(() => visit.go('/checks/new'));
afterEach(() => expect(visit.complaints()).toEqual([]));

const check = async (vatNumber: string) => {
  await visit.page.getByLabel('VAT number').fill(vatNumber);
  await visit.page.getByRole('button', { name: 'Check', exact: true }).click();
};
const outcome = () => visit.page.getByRole('region', { name: 'Outcome' });
/** Presses Verify and returns what the page then says. */
const verify = async (): Promise<string[]> => {
  await visit.page.getByRole('button', { name: 'Verify' }).click();
  const findings = visit.page.getByRole('status').getByRole('listitem');
  await findings.nth(1).waitFor();
  return findings.allTextContents();
};

test('a double click creates one check, whose result survives a reload', async () => {
  const sent: string[] = [];
  visit.page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await visit.page.getByLabel('VAT number').fill('FR 40 303 265 045');
  await visit.page.getByRole('button', { name: 'Check', exact: true }).dblclick();
  await outcome().getByText('valid', { exact: true }).waitFor();
  expect(sent.length).toBe(1);
  await visit.page.reload();
  await outcome().getByText('FR40303265045', { exact: true }).waitFor();
  await outcome().getByText('valid', { exact: true }).waitFor();
});

test('accidental repeated presses count once, and intended ones count twice', async () => {
  const { page } = visit;
  let sent = 0;
  const count = (request: Request) => {
    if (request.method() === 'POST') sent += 1;
  };
  page.on('request', count);
  const button = page.getByRole('button', { name: 'Check', exact: true });
  await page.getByLabel('VAT number').fill('IT00159560366');
  const presses = async (press: () => Promise<unknown>) => {
    // After input the next press counts, however soon it follows.
    await page.getByLabel('VAT number').fill('IT00159560366');
    await Promise.all([page.waitForResponse((response) => response.request().method() === 'POST'), press()]);
    await outcome().getByText('valid', { exact: true }).waitFor();
    await page.locator('button[type=submit]:not([data-pending])').waitFor();
    return sent;
  };
  const pressTwice = "for (const _ of [1, 2]) document.querySelector('main button[type=submit]').click()";
  expect(await presses(() => page.evaluate(pressTwice))).toBe(1);
  expect(
    await presses(async () => {
      await button.focus();
      await page.keyboard.press('Space');
      await page.keyboard.press('Space');
    }),
  ).toBe(2);
  expect(await presses(() => page.keyboard.down('Enter'))).toBe(3);
  // A second key down without key up is a held key.
  await page.getByLabel('VAT number').fill('IT00159560366');
  await page.keyboard.down('Enter');
  await button.focus();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  expect(sent).toBe(3);
  await until('a later press to count', async () => {
    await button.click();
    return sent > 3;
  });
  await outcome().getByText('valid', { exact: true }).waitFor();
  page.off('request', count);
});

test('a retry after a lost response creates no second check; a submission after a response does', async () => {
  const { page } = visit;
  const keys: (string | undefined)[] = [];
  const created: string[] = [];
  let isLost = true;
  await page.route('**/app/api/checks', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    const answer = await route.fetch();
    created.push((await answer.json()).request_id);
    await (isLost ? route.abort() : route.fulfill({ response: answer }));
    isLost = false;
  });
  await check('IT00159560366');
  await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  for (const position of [2, 3]) {
    await check('IT00159560366');
    await until('the answer', () => new URL(page.url()).searchParams.get('request') === created[position - 1]);
    await outcome().getByText('valid', { exact: true }).waitFor();
  }
  expect([keys.length, new Set(keys).size, new Set(created).size]).toEqual([3, 2, 2]);
  expect(keys[0]).toBe(keys[1]);
  // A handler that fetches may still run.
  await page.unrouteAll({ behavior: 'wait' });
});

test('an unanswered check is pending and completes on the open page', async () => {
  await dashboard.world.vies.script('PT501964843', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  await check('PT501964843');
  await visit.page.getByRole('region', { name: 'Waiting' }).waitFor();
  await outcome().getByText('pending', { exact: true }).waitFor();
  await outcome().getByText('MS_UNAVAILABLE').waitFor();
  await dashboard.world.vies.script('PT501964843', [{ kind: 'valid' }]);
  await outcome().getByText('valid', { exact: true }).waitFor();
});

test('a malformed number gets its verdict, and a country that is not covered shows an error', async () => {
  await check(' ');
  await visit.page.getByRole('alert').getByText('VAT number is required.').waitFor();
  await check('DE12');
  await outcome().getByText('malformed', { exact: true }).waitFor();
  await outcome().getByText('DE numbers have 9 digits and do not begin with 0.', { exact: true }).waitFor();
  await check('GB123456789');
  const alert = visit.page.getByRole('alert');
  await alert.getByText(/^The number begins with GB, which is not covered: enter a number of one/).waitFor();
  expect(await visit.page.getByText('which is not covered').count()).toBe(1);
  expect(await outcome().count()).toBe(0);
});

test('an error appears once, at its field, in view on a phone and with the labels of the page', async () => {
  const narrow = await dashboard.visit({ viewport: NARROW, refused: /\/app\/api\/checks$/ });
  await narrow.enter(EMAIL);
  await narrow.go('/checks/new');
  const { page } = narrow;
  const alert = page.getByRole('alert');
  const expectError = async (sentence: string | RegExp) => {
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await alert.getByText(sentence, { exact: true }).waitFor();
    expect([await alert.count(), await page.getByText(sentence).count()]).toEqual([1, 1]);
    const box = await alert.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= NARROW.height).toBe(true);
  };
  const number = page.getByLabel('VAT number');
  await number.fill('123456789');
  await expectError(
    'The number does not begin with a country prefix: add it (such as DE) or choose it under “Country”.',
  );
  await number.fill('DE123456789');
  await page.getByLabel('Country').selectOption('FR');
  await page.getByText('Compare trader details').click();
  await expectError('The number begins with DE, but “Country” says FR: correct one of the two or choose no country.');
  await page.getByLabel('Country').selectOption('');
  await page.getByLabel('Requester').fill('12');
  await expectError(
    'Requester is not a valid VAT number. The number does not begin with a country prefix: add it (such as DE). Enter your own EU VAT number or leave the field empty.',
  );
  await page.getByLabel('Requester').fill('');
  await page.getByLabel('City').fill('x'.repeat(201));
  await expectError(/^City .*200 characters\. Correct it and try again\.$/);
  expect(narrow.complaints()).toEqual([]);
  await narrow.close();
});

test('a hostile name is shown as text, and the evidence of its check is verified', async () => {
  await dashboard.world.vies.script('BE0203201340', [
    { kind: 'valid', name: HOSTILE, address: `${HOSTILE}\nRue de la Loi 1` },
  ]);
  await check('BE0203201340');
  await outcome().getByText(HOSTILE, { exact: true }).waitFor();
  await outcome().getByRole('link', { name: 'View check' }).click();
  const { page } = visit;
  await page.getByRole('heading', { level: 1, name: 'BE0203201340' }).waitFor();
  await page.getByText(HOSTILE, { exact: true }).waitFor();
  expect(await verify()).toEqual([
    expect.stringMatching(
      /^Verified The SHA-256 of the \d+ stored bytes, computed in this browser, is sha256:[0-9a-f]{64}\.$/,
    ),
    'Verified The data on this page, in canonical form, equals the stored bytes.',
  ]);
  await page.getByRole('link', { name: 'Checks', exact: true }).click();
  await page
    .getByRole('row', { name: /BE0203201340/ })
    .getByText(HOSTILE)
    .waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
});

test('register facts and a contradiction are shown, and the evidence is verified', async () => {
  const { page } = visit;
  await check('CZ00006947');
  await outcome().getByRole('link', { name: 'View check' }).click();
  await page.getByRole('heading', { level: 1, name: 'CZ00006947' }).waitFor();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('contradicts', { exact: true }).waitFor();
  await timeline.getByText('This source contradicts the verdict.').waitFor();
  for (const fact of [`Ministerstvo ${HOSTILE}`, 'Letenská 525/15, 11800 Praha 1', 'NEEXISTUJICI', '00006947'])
    await timeline.getByRole('definition').getByText(fact, { exact: true }).waitFor();
  for (const finding of await verify()) expect(finding).toMatch(/^Verified /);
});

test('the match of a trader and the grade are shown in plain words', async () => {
  const { page } = visit;
  await page.getByText('Compare trader details').click();
  await page.getByLabel('Trader name').fill('Sandbox trader CZ25596641');
  await page.getByLabel('Street').fill('Sandbox Street 1');
  await page.getByLabel('City').fill('Brno');
  await check('CZ25596641');
  await outcome().getByText('named', { exact: true }).waitFor();
  await outcome().getByRole('link', { name: 'View check' }).click();
  const match = page.getByRole('region', { name: 'Trader match' });
  await match.getByText('You sent “Sandbox trader CZ25596641”. VIES states “Sandbox Trader CZ25596641”.').waitFor();
  const details = await match.getByRole('definition').allTextContents();
  expect(details.slice(0, 4)).toEqual([
    expect.stringMatching(/^undecided \d\d of 100$|^differs \d\d of 100$/),
    expect.stringMatching(/^agrees 100 of 100/),
    expect.stringMatching(/^agrees 100 of 100.*VIES states “1 Sandbox Street”/),
    expect.stringMatching(/^differs \d+ of 100.*You sent “Brno”/),
  ]);
  await match.getByRole('heading', { name: 'According to VIES' }).waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('a source states name and address. A source contradicts the verdict').waitFor();

  // A requester alone would not raise the grade.
  await visit.go('/checks/new');
  await page.getByText('Compare trader details').click();
  await page.getByLabel('City').fill('wrong');
  await check('BE0203201340');
  await outcome().getByRole('link', { name: 'View check' }).click();
  await result.getByText('It is not “qualified” because not every trader detail you sent agrees.').waitFor();
  expect(await result.getByText('Send your own VAT number').count()).toBe(0);
});

test('a test check says that the sandbox answered it, and nothing in the name of VIES', async () => {
  const { page } = visit;
  const { get, post } = dashboard.world.http(account.test_key);
  const { body } = await post('/v1/checks', { vat_number: 'DE100' });
  const id = await until('the check', async () => (await get(`/v1/requests/${body.request_id}`)).body.check?.id);
  await visit.go(`/checks/${id}`);
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('The sandbox of the service answered this test check. No authority was queried').waitFor();
  expect(await result.getByText('VIES says').count()).toBe(0);
});

test('a time in the first hour of a day is written alike with and without seconds', async () => {
  const { page } = visit;
  await page.route(/\/app\/api\/checks/, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll(/"checked_at":"[^"]+"/g, '"checked_at":"2026-11-27T23:16:53.000Z"');
    await route.fulfill({ response, body });
  });
  await visit.go('/checks');
  const row = page.getByRole('row', { name: /FR40303265045/ }).first();
  await row.getByText('28 Nov 2026, 00:16', { exact: true }).waitFor();
  await row.getByRole('link').first().click();
  await page.getByText('28 Nov 2026, 00:16:53 CET', { exact: true }).waitFor();
  // A handler that fetches may still run.
  await page.unrouteAll({ behavior: 'wait' });
});

test('bytes that do not match the hash are reported', async () => {
  await check('ATU12345675');
  await outcome().getByRole('link', { name: 'View check' }).click();
  await visit.page.getByRole('heading', { level: 1, name: 'ATU12345675' }).waitFor();
  await visit.page.route('**/evidence', (route) => route.fulfill({ body: '{"id":"chk_other"}' }));
  await visit.page.getByRole('button', { name: 'Verify' }).click();
  await visit.page.getByText('Not verified').first().waitFor();
  expect(await visit.page.getByText('Not verified').count()).toBe(2);
  await visit.page.unroute('**/evidence');
});

test('the URL filters the list, and a check created elsewhere appears', async () => {
  const { page } = visit;
  await visit.go('/checks?valid=false');
  await page.getByRole('row', { name: /DE12/ }).waitFor();
  expect(await page.getByRole('row', { name: /FR40303265045/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByLabel('VAT number').fill('NL004495445B01');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('No checks match these filters').waitFor();
  await page.evaluate(`fetch('/app/api/session').then((answer) => answer.json()).then(({ csrf_token }) =>
    fetch('/app/api/checks', { method: 'POST', body: '{"vat_number":"NL004495445B01"}',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token } }))`);
  await page.getByRole('row', { name: /NL004495445B01/ }).waitFor();
});

test('a filter that was cleared does not come back, and the period is validated whichever filter is chosen', async () => {
  const { page } = visit;
  await visit.go('/checks');
  const number = page.getByLabel('VAT number');
  await number.fill('NL004495445B01');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((url) => url.search === '');
  // Hovering renders the field again.
  await number.hover();
  await page.locator('input[name=vat_number][data-hovered]').waitFor();
  expect(await number.inputValue()).toBe('');

  await page.getByLabel('From (UTC)').fill('2026-02-02');
  await page.getByLabel('Before (UTC)').fill('2026-02-01');
  await page.getByLabel('Validity').selectOption('false');
  const problem = page.getByRole('alert').getByText('Before must be later than From.');
  await problem.waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByLabel('Before (UTC)').fill('2026-02-03');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL((url) => url.search === '?valid=false&from=2026-02-02&to=2026-02-03');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((url) => url.search === '');
  expect(await page.getByLabel('Validity').inputValue()).toBe('');
  await page.locator('button[type=submit]:focus', { hasText: 'Filter' }).waitFor();
});

test('the period of an address is shown in its fields, whole days as dates and other times as such', async () => {
  const { page } = visit;
  const from = page.getByLabel('From (UTC)');
  const to = page.getByLabel('Before (UTC)');
  const shown = async () => [await from.inputValue(), await to.inputValue()];
  await visit.go(`/checks?from=2026-11-01T00:00:00Z&to=${encodeURIComponent('2126-11-02T02:30:05+02:00')}`);
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  expect(await shown()).toEqual(['2026-11-01', '2126-11-02T00:30:05']);
  // What is shown stays a filter together with what is chosen.
  await page.getByLabel('Validity').selectOption('true');
  await page.waitForURL(
    ({ searchParams: chosen }) => chosen.get('valid') === 'true' && chosen.get('to') === '2126-11-02T00:30:05Z',
  );
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  expect([new URL(page.url()).searchParams.get('from'), await shown()]).toEqual([
    '2026-11-01',
    ['2026-11-01', '2126-11-02T00:30:05'],
  ]);
  await to.fill('2026-11-01T00:00');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('alert').getByText('Before must be later than From.').waitFor();
  await to.fill('2026-11-01T10:20');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.waitForURL(({ searchParams }) => searchParams.get('to') === '2026-11-01T10:20:00Z');
  await page.getByText('No checks match these filters').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('input[name=to][type=date]').waitFor();
  expect(await shown()).toEqual(['', '']);
});

test('updates do not cancel a slow fetch of a list; one more fetch follows it', async () => {
  const { page } = visit;
  await visit.go('/checks');
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  const held: Route[] = [];
  const failed: string[] = [];
  let requestReads = 0;
  page.on('requestfailed', (request) => failed.push(request.url()));
  page.on('request', (request) => {
    if (request.url().includes('/app/api/requests?status=pending')) requestReads += 1;
  });
  await page.route('**/app/api/checks', (route) => void held.push(route));
  for (const [index, vatNumber] of ['SE556036079301', 'FI20774740'].entries()) {
    await dashboard.world.http(account.live_key).post('/v1/checks', { vat_number: vatNumber });
    // The same update also refetches the pending requests, after the checks.
    await until('the page to receive the update', () => requestReads > index && held.length > 0);
  }
  expect([held.length, failed]).toEqual([1, []]);
  await held[0]?.continue();
  await page.unroute('**/app/api/checks');
  await page.getByRole('row', { name: /FI20774740/ }).waitFor();
  await page.getByRole('row', { name: /SE556036079301/ }).waitFor();
});

test('the list of pending requests has more than one page', async () => {
  await dashboard.world.sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at)
     SELECT id, $2::uuid, false, 'pending', 'PT501964843', 'PT', '501964843', 'PT501964843', '[]', now(), now(), now(),
       now() + interval '1 day', now() + interval '1 hour' FROM unnest($1::uuid[]) AS r(id)`,
    [Array.from({ length: 21 }, newUuid), uuidOf('account', account.account_id)],
  );
  await visit.go('/checks');
  const pending = visit.page.getByRole('region', { name: 'Pending' });
  await pending
    .getByRole('row', { name: /PT501964843/ })
    .nth(19)
    .waitFor();
  const more = pending.getByRole('button', { name: 'Show more' });
  const nextPage = /\/app\/api\/requests\?.*cursor=/;
  await visit.page.route(nextPage, (route) => route.fulfill({ status: 400, json: {} }));
  await more.click();
  // Beside the button: the list above it can be long.
  await pending.locator('.more').getByRole('alert').waitFor();
  expect(await pending.getByRole('alert').count()).toBe(1);
  await visit.page.unroute(nextPage);
  await more.focus();
  await visit.page.keyboard.press('Enter');
  await pending
    .getByRole('row', { name: /PT501964843/ })
    .nth(20)
    .waitFor();
  // The button is gone. Keyboard users are at the first new row.
  await pending.locator('tbody > tr:nth-child(21):focus').waitFor();
  // While a member state is down its requests stay due.
  const { page } = visit;
  await page.route('**/app/api/requests?*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll(
      /"next_attempt_at":"[^"]+"/g,
      '"next_attempt_at":"2026-01-01T00:00:00Z"',
    );
    await route.fulfill({ response, body });
  });
  await visit.go('/checks');
  await pending.getByText('due, waiting for its turn').first().waitFor();
  // A handler that fetches may still run.
  await page.unrouteAll({ behavior: 'wait' });
});

test('abandoned requests are listed for some days, with the reason and a way to check again', async () => {
  await dashboard.world.sql(
    `INSERT INTO request (id, account_id, test, state, reason, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at, ended_at)
     SELECT id, $2::uuid, false, 'abandoned', 'UPSTREAM_NO_ANSWER', vat_number, 'HU', substr(vat_number, 3), vat_number, '[]', at, at,
       at, at + interval '1 day', at, at + interval '1 day'
     FROM (VALUES ($1::uuid, 'HU10766172', now() - interval '2 days'), ($3::uuid, 'HU12892312', now() - interval '5 days'))
       AS r(id, vat_number, at)`,
    [newUuid(), uuidOf('account', account.account_id), newUuid()],
  );
  const { page } = visit;
  await visit.go('/checks');
  const abandoned = page.getByRole('region', { name: 'Abandoned' });
  const row = abandoned.getByRole('row', { name: /HU10766172/ });
  await row.getByText('The member state did not answer in time.').waitFor();
  expect(await abandoned.getByText('HU12892312').count()).toBe(0);
  for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    await saveScreenshot(page, `${name}-checks-abandoned`);
  }
  await page.setViewportSize(WIDE);
  await row.getByRole('link', { name: 'Check again' }).click();
  await page.getByRole('heading', { level: 1, name: 'New check' }).waitFor();
  expect(await page.getByLabel('VAT number').inputValue()).toBe('HU10766172');
});

test('without page updates an open list polls', async () => {
  const offline = await dashboard.visit({ refused: /\/news$/ });
  await offline.page.route('**/app/api/news', (route) => route.abort());
  await offline.enter(EMAIL);
  await offline.go('/checks');
  await offline.page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  await check('LU26375245');
  await offline.page.getByRole('row', { name: /LU26375245/ }).waitFor();
  expect(offline.complaints()).toEqual([]);
  await offline.close();
});

test('a check of an earlier release is shown without match and grade, and its evidence is verified', async () => {
  const { page } = visit;
  const [, earlier] = await insertEarlierChecks(dashboard.world, account);
  await visit.go(`/checks/${earlier?.id}`);
  await page.getByRole('region', { name: 'Trader match' }).getByText('not_processed').first().waitFor();
  expect(await page.getByText('Evidence grade').count()).toBe(0);
  for (const finding of await verify()) expect(finding).toMatch(/^Verified /);
});
