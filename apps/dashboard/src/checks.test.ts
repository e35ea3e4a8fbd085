import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newUuid, uuidOf } from '@vat/domain';
import { type TestAccount, until } from '@vat/testkit';
import type { Request, Route } from 'playwright-core';
import { type Dashboard, NARROW, openDashboard, type Visit } from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';
const HOSTILE = '<img src=x onerror=alert(1)> "Ünï" & Söhne';

let dashboard: Dashboard;
let visit: Visit;
let account: TestAccount;
/** ARES, which has no VAT registration of anybody. */
let register: Server;
const ARES_ANSWER = {
  obchodniJmeno: `Ministerstvo ${HOSTILE}`,
  sidlo: { textovaAdresa: 'Letenská 525/15, 11800 Praha 1' },
  seznamRegistraci: { stavZdrojeDph: 'NEEXISTUJICI' },
};
beforeAll(async () => {
  register = createServer((_request, response) => void response.end(JSON.stringify(ARES_ANSWER)));
  await once(register.listen(0, '127.0.0.1'), 'listening');
  dashboard = await openDashboard({
    settings: {
      BACKGROUND_RETRY_DELAYS: '1s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      ENRICHMENT_SOURCES: 'cz_ares',
      ENRICHMENT_CZ_ARES_URL: `http://127.0.0.1:${(register.address() as AddressInfo).port}`,
    },
  });
  account = await dashboard.account(EMAIL);
  visit = await dashboard.visit({ refused: /\/app\/api\/checks$/ });
  await visit.enter(EMAIL);
}, 120_000);
afterAll(async () => {
  await dashboard?.close();
  register?.closeAllConnections();
  await new Promise((resolve) => register?.close(resolve));
});
beforeEach(() => visit.go('/checks/new'));
afterEach(() => expect(visit.complaints()).toEqual([]));

const check = async (vatNumber: string) => {
  await visit.page.getByLabel('VAT number').fill(vatNumber);
  await visit.page.getByRole('button', { name: 'Check', exact: true }).click();
};
const outcome = () => visit.page.getByRole('region', { name: 'Outcome' });

test('a double click asks once, and the answer shows its verdict and survives a reload at its address', async () => {
  const asked: string[] = [];
  visit.page.on('request', (request) => request.method() === 'POST' && asked.push(request.url()));
  await visit.page.getByLabel('VAT number').fill('FR 40 303 265 045');
  await visit.page.getByRole('button', { name: 'Check', exact: true }).dblclick();
  await outcome().getByText('valid', { exact: true }).waitFor();
  expect(asked.length).toBe(1);
  await visit.page.reload();
  await outcome().getByText('FR40303265045', { exact: true }).waitFor();
  await outcome().getByText('valid', { exact: true }).waitFor();
});

test('a press is one however it is made, and two that are meant are two', async () => {
  const { page } = visit;
  let asked = 0;
  const count = (request: Request) => {
    if (request.method() === 'POST') asked += 1;
  };
  page.on('request', count);
  const button = page.getByRole('button', { name: 'Check', exact: true });
  await page.getByLabel('VAT number').fill('IT00159560366');
  const presses = async (press: () => Promise<unknown>) => {
    // Typing makes the next press one that is meant, however soon it comes.
    await page.getByLabel('VAT number').fill('IT00159560366');
    await Promise.all([page.waitForResponse((response) => response.request().method() === 'POST'), press()]);
    await outcome().getByText('valid', { exact: true }).waitFor();
    await page.locator('button[type=submit]:not([data-pending])').waitFor();
    return asked;
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
  // What goes down again without having gone up is held.
  await page.getByLabel('VAT number').fill('IT00159560366');
  await page.keyboard.down('Enter');
  await button.focus();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  expect(asked).toBe(3);
  await until('a later press to be one of its own', async () => {
    await button.click();
    return asked > 3;
  });
  await outcome().getByText('valid', { exact: true }).waitFor();
  page.off('request', count);
});

test('a try whose answer was lost is the same check, and one after an answer is another', async () => {
  const { page } = visit;
  const keys: (string | undefined)[] = [];
  const made: string[] = [];
  let isLost = true;
  await page.route('**/app/api/checks', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    const answer = await route.fetch();
    made.push((await answer.json()).request_id);
    await (isLost ? route.abort() : route.fulfill({ response: answer }));
    isLost = false;
  });
  await check('IT00159560366');
  await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  for (const shown of [2, 3]) {
    await check('IT00159560366');
    await until('the answer', () => new URL(page.url()).searchParams.get('request') === made[shown - 1]);
    await outcome().getByText('valid', { exact: true }).waitFor();
  }
  expect([keys.length, new Set(keys).size, new Set(made).size]).toEqual([3, 2, 2]);
  expect(keys[0]).toBe(keys[1]);
  await page.unroute('**/app/api/checks');
});

test('a number that no member state answers is pending, and completes on the page by itself', async () => {
  await dashboard.world.vies.script('PT501964843', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  await check('PT501964843');
  await visit.page.getByRole('region', { name: 'Waiting' }).waitFor();
  await outcome().getByText('pending', { exact: true }).waitFor();
  await outcome().getByText('MS_UNAVAILABLE').waitFor();
  await dashboard.world.vies.script('PT501964843', [{ kind: 'valid' }]);
  await outcome().getByText('valid', { exact: true }).waitFor();
});

test('a malformed number is answered as such, and a country that is not covered is refused in words', async () => {
  await check(' ');
  await visit.page.getByRole('alert').getByText('VAT number is required.').waitFor();
  await check('DE12');
  await outcome().getByText('malformed', { exact: true }).waitFor();
  await check('GB123456789');
  const refusal = visit.page.getByRole('alert');
  await refusal.getByText(/^The number begins with GB, which is not covered: enter a number of one/).waitFor();
  expect(await visit.page.getByText('which is not covered').count()).toBe(1);
  expect(await outcome().count()).toBe(0);
});

test('a refusal is said once, at its field, in view on a telephone and in words of the page', async () => {
  const narrow = await dashboard.visit({ viewport: NARROW, refused: /\/app\/api\/checks$/ });
  await narrow.enter(EMAIL);
  await narrow.go('/checks/new');
  const { page } = narrow;
  const refusal = page.getByRole('alert');
  const refused = async (sentence: string | RegExp) => {
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await refusal.getByText(sentence, { exact: true }).waitFor();
    expect([await refusal.count(), await page.getByText(sentence).count()]).toEqual([1, 1]);
    const box = await refusal.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= NARROW.height).toBe(true);
  };
  const number = page.getByLabel('VAT number');
  await number.fill('123456789');
  await refused('The number does not begin with a country prefix: add it (such as DE) or choose it under “Country”.');
  await number.fill('DE123456789');
  await page.getByLabel('Country').selectOption('FR');
  await page.getByText('Compare with what you know').click();
  await refused('The number begins with DE, but “Country” says FR: correct one of the two or choose no country.');
  await page.getByLabel('Country').selectOption('');
  await page.getByLabel('Requester').fill('12');
  await refused(
    'Requester is not a valid VAT number. The number does not begin with a country prefix: add it (such as DE). Enter your own, valid EU VAT number or leave the field empty.',
  );
  await page.getByLabel('Requester').fill('');
  await page.getByLabel('City').fill('x'.repeat(201));
  await refused(/^City .*200 characters\. Correct what is named here and try again\.$/);
  expect(narrow.complaints()).toEqual([]);
  await narrow.close();
});

test("a hostile name is text everywhere, and the check's evidence holds in this browser", async () => {
  await dashboard.world.vies.script('BE0203201340', [
    { kind: 'valid', name: HOSTILE, address: `${HOSTILE}\nRue de la Loi 1` },
  ]);
  await check('BE0203201340');
  await outcome().getByText(HOSTILE, { exact: true }).waitFor();
  await outcome().getByRole('link', { name: 'Open it' }).click();
  const { page } = visit;
  await page.getByRole('heading', { level: 1, name: 'BE0203201340' }).waitFor();
  await page.getByText(HOSTILE, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('status').getByRole('listitem').nth(1).waitFor();
  expect(await page.getByRole('status').getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Holds SHA-256 of the \d+ stored bytes, computed here, is sha256:[0-9a-f]{64}\.$/),
    'Holds What this page shows, in canonical form, is those bytes to the letter.',
  ]);
  await page.getByRole('link', { name: 'Checks', exact: true }).click();
  await page
    .getByRole('row', { name: /BE0203201340/ })
    .getByText(HOSTILE)
    .waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
});

test('what a register states is shown as text, and that it contradicts; the evidence holds with it', async () => {
  const { page } = visit;
  await check('CZ00006947');
  await outcome().getByRole('link', { name: 'Open it' }).click();
  await page.getByRole('heading', { level: 1, name: 'CZ00006947' }).waitFor();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('contradicts', { exact: true }).waitFor();
  await timeline.getByText('This source says the opposite of the verdict.').waitFor();
  for (const fact of [`Ministerstvo ${HOSTILE}`, 'Letenská 525/15, 11800 Praha 1', 'NEEXISTUJICI', '00006947'])
    await timeline.getByRole('definition').getByText(fact, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('status').getByRole('listitem').nth(1).waitFor();
  for (const finding of await page.getByRole('status').getByRole('listitem').allTextContents())
    expect(finding).toMatch(/^Holds /);
});

test('bytes that do not fit the hash are told so', async () => {
  await check('ATU12345675');
  await outcome().getByRole('link', { name: 'Open it' }).click();
  await visit.page.getByRole('heading', { level: 1, name: 'ATU12345675' }).waitFor();
  await visit.page.route('**/evidence', (route) => route.fulfill({ body: '{"id":"chk_other"}' }));
  await visit.page.getByRole('button', { name: 'Verify' }).click();
  await visit.page.getByText('Does not hold').first().waitFor();
  expect(await visit.page.getByText('Does not hold').count()).toBe(2);
  await visit.page.unroute('**/evidence');
});

test('the list is filtered by its address, and a check made elsewhere appears by itself', async () => {
  const { page } = visit;
  await visit.go('/checks?valid=false');
  await page.getByRole('row', { name: /DE12/ }).waitFor();
  expect(await page.getByRole('row', { name: /FR40303265045/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByLabel('VAT number').fill('NL004495445B01');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('Nothing fits these filters').waitFor();
  await page.evaluate(`fetch('/app/api/session').then((answer) => answer.json()).then(({ csrf_token }) =>
    fetch('/app/api/checks', { method: 'POST', body: '{"vat_number":"NL004495445B01"}',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token } }))`);
  await page.getByRole('row', { name: /NL004495445B01/ }).waitFor();
});

test('a list whose reading takes long is read to its end, and once more for what happened meanwhile', async () => {
  const { page } = visit;
  await visit.go('/checks');
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  const held: Route[] = [];
  const cut: string[] = [];
  let beside = 0;
  page.on('requestfailed', (request) => cut.push(request.url()));
  page.on('request', (request) => {
    if (request.url().includes('/app/api/requests')) beside += 1;
  });
  await page.route('**/app/api/checks', (route) => void held.push(route));
  for (const [index, vatNumber] of ['SE556036079301', 'FI20774740'].entries()) {
    await dashboard.world.http(account.live_key).post('/v1/checks', { vat_number: vatNumber });
    // The pending ones are read again by the same news, after the checks.
    await until('the page to have heard of it', () => beside > index && held.length > 0);
  }
  expect([held.length, cut]).toEqual([1, []]);
  await held[0]?.continue();
  await page.unroute('**/app/api/checks');
  await page.getByRole('row', { name: /FI20774740/ }).waitFor();
  await page.getByRole('row', { name: /SE556036079301/ }).waitFor();
});

test('every pending request can be reached, not the latest twenty alone', async () => {
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
  await pending.getByRole('button', { name: 'Show more' }).click();
  await pending
    .getByRole('row', { name: /PT501964843/ })
    .nth(20)
    .waitFor();
});

test('without the server’s news an open list asks by itself', async () => {
  const deaf = await dashboard.visit({ refused: /\/news$/ });
  await deaf.page.route('**/app/api/news', (route) => route.abort());
  await deaf.enter(EMAIL);
  await deaf.go('/checks');
  await deaf.page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  await check('LU26375245');
  await deaf.page.getByRole('row', { name: /LU26375245/ }).waitFor();
  expect(deaf.complaints()).toEqual([]);
  await deaf.close();
});
