import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newUuid, uuidOf } from '@vat/domain';
import { readBatchFile } from '@vat/spreadsheet';
import { numberOf, type TestAccount, until } from '@vat/testkit';
import {
  atEveryMoment,
  type Dashboard,
  holdRequests,
  NARROW,
  openDashboard,
  untilRendered,
  type Visit,
  WIDE,
} from './testing/open-dashboard.fixture.js';
import { saveScreenshot } from './testing/save-screenshot.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
let freeAccount: TestAccount;
let owner: TestAccount;
beforeAll(async () => {
  dashboard = await openDashboard({
    settings: { BACKGROUND_RETRY_DELAYS: '500ms', BACKGROUND_GIVE_UP_AFTER: '10m', WATCHES_EVERY: '300ms' },
  });
  [freeAccount, owner] = await Promise.all([
    dashboard.account('free@example.com', { plan: 'free' }),
    dashboard.account(EMAIL),
  ]);
  // Malta made about two lookups a second at every hour of the last two days.
  await dashboard.world.sql(
    `INSERT INTO upstream_hour (hour, member_state, answered, saturated, unavailable, buckets)
     SELECT date_trunc('hour', now()) - h * interval '1 hour', 'MT', 7200, 0, 0, array_fill(0, ARRAY[12]) || '{7200}'
     FROM generate_series(1, 48) AS h`,
  );
  visit = await dashboard.visit({ refused: /\/app\/api\/(batches|watches$)/ });
  await visit.enter(EMAIL);
});
afterAll(() => dashboard?.close());
afterEach(() => expect(visit.complaints()).toEqual([]));

const choose = async (name: string, text: string | Buffer) => {
  await visit.go('/batches');
  await visit.page
    .getByLabel('CSV file')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: typeof text === 'string' ? Buffer.from(text) : text });
};
const region = (name: string) => visit.page.getByRole('region', { name, exact: true });

test('an upload shows a preview with repairs, then progress, lines and results', async () => {
  const { page } = visit;
  await dashboard.world.vies.script('IT00159560366', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  await dashboard.world.vies.script('FR40303265045', [{ kind: 'valid', name: 'SA EXEMPLE' }]);
  await choose(
    'Lieferanten <1>.csv',
    'Kunde;USt-IdNr.;Land\nK-1;\'FR40303265045;Frankreich\nK-2;1,23E+11;DE\nK-3;IT00159560366;\n"K-4";12345678;\nK-5;GB999999973;\nK-6;GB999999973;\n',
  );
  const preview = region('Preview');
  await preview.getByText('“USt-IdNr.”, recognised by its name').waitFor();
  await preview.getByText('separated by semicolon').waitFor();
  await preview.getByText(/leading apostrophe removed/).waitFor();
  await preview.getByText(/these digits are lost/).waitFor();
  await preview.getByText('and 1 more row', { exact: true }).waitFor();
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await page.getByLabel('Label').fill('Suppliers');
  expect(sent).toEqual([]);
  await page.getByRole('button', { name: 'Upload' }).click();

  await page.getByRole('heading', { level: 1, name: 'Suppliers' }).waitFor();
  const bar = page.getByRole('progressbar');
  await page.getByText('5 of 6 lines').waitFor();
  expect(await bar.getAttribute('aria-valuenow')).toBe('83');
  await page.getByText('running', { exact: true }).waitFor();
  await page.getByRole('row', { name: /IT00159560366.*queued/ }).waitFor();
  await dashboard.world.vies.script('IT00159560366', [{ kind: 'valid' }]);
  await page.getByText('completed', { exact: true }).waitFor();
  expect(await bar.getAttribute('aria-valuenow')).toBe('100');

  await page.getByRole('row', { name: /FR40303265045.*valid.*SA EXEMPLE/ }).waitFor();
  await page.getByLabel('Result').selectOption('failed');
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /12345678.*BAD_REQUEST/ }).waitFor();
  await page
    .getByRole('row', { name: /GB999999973.*not covered: enter a number of one/ })
    .first()
    .waitFor();
  await page.reload();
  await page.getByRole('row', { name: /12345678/ }).waitFor();
  expect(await page.getByLabel('Result').inputValue()).toBe('failed');
  await page.getByLabel('Result').selectOption('valid');
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor();
  await page.getByRole('row', { name: /12345678/ }).waitFor({ state: 'detached' });

  // A filter of the API that the page does not offer is not applied either.
  const { pathname } = new URL(page.url());
  await page.goto(`${pathname}?status=done`);
  await page.getByRole('row', { name: /12345678/ }).waitFor();
  expect(await page.getByLabel('Result').inputValue()).toBe('all');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download results (CSV)' }).click(),
  ]);
  const [header, first] = (await readFile(await download.path(), 'utf8')).split(/\r?\n/);
  expect(header).toMatch(/^Kunde,USt-IdNr\.,Land,vat_number,valid/);
  expect(first).toMatch(/FR40303265045,true,valid/);
});

test('a workbook shows its sheets, and the chosen one is uploaded and downloaded as a workbook', async () => {
  const { page } = visit;
  await choose(
    'Lieferanten.xlsx',
    await readFile(new URL('../../../packages/spreadsheet/fixtures/xlsxwriter.xlsx', import.meta.url)),
  );
  const preview = region('Preview');
  await preview.getByText('Excel workbook, sheet “Lieferanten”, with a header row').waitFor();
  await preview.getByRole('row', { name: /^5 ATU33803803/ }).waitFor();
  await page.getByLabel('Sheet').selectOption('Cover');
  await page.getByRole('alert').getByText('The file has no data row').waitFor();
  await page.getByLabel('Sheet').selectOption('Old');
  await preview.getByRole('row', { name: /^2 IT00743110157/ }).waitFor();
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'Lieferanten.xlsx' }).waitFor();
  await page.getByRole('row', { name: /IT00743110157/ }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download results (Excel)' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('Lieferanten-results.xlsx');
  const { header, rows } = readBatchFile(await readFile(await download.path()));
  expect(header?.slice(0, 3)).toEqual(['vat_number', 'vat_number', 'valid']);
  expect(rows).toHaveLength(1);
});

test('a file of supplies shows how its dates are read, then what is covered, and its gaps become a batch', async () => {
  const { page } = visit;
  const chooseSupplies = async (text: string) => {
    await visit.go('/coverage');
    await page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'supplies.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  };
  await chooseSupplies('vat_number,date\nFR40303265045,12/31/2026\n');
  await page
    .getByRole('alert')
    .getByText(/Line 2: .*month first/)
    .waitFor();
  expect(await page.getByRole('button', { name: 'Compare' }).count()).toBe(0);

  const [year, month, day] = new Date().toISOString().slice(0, 10).split('-');
  const preview = region('Preview');
  // Nothing is said about dates that can be read in one way only.
  await chooseSupplies('vat_number,date\nFR40303265045,2026-04-03\nATU33803803,31.12.2026\n');
  await preview.getByText('31 December 2026').waitFor();
  await preview.getByText('“date”', { exact: true }).waitFor();
  await preview.getByText('No cell was changed.').waitFor();
  await chooseSupplies(
    `Kunde;USt-IdNr;Wann;Requester\nA;FR40303265045;${day}.${month}.${year}\nB;ATU33803803;03/04/2026;DE136695976\n`,
  );
  await preview.getByText('“Wann”, day before month').waitFor();
  await preview.getByText('3 April 2026').waitFor();
  await saveScreenshot(page, 'wide-coverage-preview');
  await page.setViewportSize(NARROW);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(NARROW.width);
  await saveScreenshot(page, 'narrow-coverage-preview');
  await page.setViewportSize(WIDE);
  await page.getByLabel('Label').fill('Supplies');
  await page.getByRole('button', { name: 'Compare' }).click();

  await page.getByRole('heading', { level: 1, name: 'Supplies' }).waitFor();
  await page.getByText('1 of 2 supplies is covered').waitFor();
  await page.getByText('1 missing: never checked before, or no usable number', { exact: true }).waitFor();
  await page.getByRole('row', { name: /FR40303265045.*covered/ }).waitFor();
  await page.getByLabel('Status').selectOption('missing');
  await page.getByRole('row', { name: /FR40303265045/ }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /ATU33803803.*2026-04-03.*missing/ }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Results (CSV)' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toMatch(/^Kunde,USt-IdNr,Wann,Requester,coverage/);
  await page.getByText('Days are days in UTC').waitFor();
  await page.getByLabel('Language of the report').selectOption({ label: 'Polski' });
  const [report] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Report (PDF)' }).click(),
  ]);
  expect((await readFile(await report.path())).includes('/Lang (pl)')).toBe(true);
  const dialog = page.getByRole('alertdialog', { name: 'Check 1 VAT number?' });
  const created: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && created.push(request.url()));
  await page.getByRole('button', { name: 'Check the gaps' }).click();
  await dialog.getByText('covers supplies from today (UTC) on').waitFor();
  for (const [width, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    await saveScreenshot(page, `${width}-coverage-gaps`);
  }
  await page.setViewportSize(WIDE);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(created).toEqual([]);
  await page.getByRole('button', { name: 'Check the gaps' }).click();
  await dialog.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Gaps: Supplies' }).waitFor();
  await page.getByRole('row', { name: /ATU33803803/ }).waitFor();
  await page.getByRole('link', { name: 'ATU33803803' }).click();
  await page.getByRole('region', { name: 'Result' }).getByText('DE136695976', { exact: true }).waitFor();

  const coverage = await dashboard.world
    .http(owner.live_key)
    .post('/v1/coverage?queue_gaps=true&min_grade=qualified')
    .set('Content-Type', 'text/csv')
    .send('vat_number,date\nIT00743110157,2026-04-03\n')
    .expect(201);
  await visit.go(`/coverage/${coverage.body.coverage_id}`);
  await page.getByRole('button', { name: 'Check the gaps' }).click();
  await dialog.getByText('A batch of these gaps was created with the coverage').waitFor();
  await dialog.getByText('1 number has no requester in your file.').waitFor();
  await dialog.getByRole('link', { name: 'view it' }).click();
  await page.getByRole('row', { name: /IT00743110157/ }).waitFor();

  await chooseSupplies(`vat_number,date\n12345678,${year}-${month}-${day}\n`);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Check the gaps' }).click();
  await page.getByRole('alert').getByText('No gap has a VAT number that can be read.').waitFor();
});

test('a download that fails says why on the page, and the next one has the name of the file', async () => {
  const { page } = visit;
  await choose('Kunden; 1.csv', 'vat_number\nFR40303265045\n');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'Kunden; 1.csv' }).waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  const address = page.url();
  const results = page.getByRole('link', { name: 'Download results (CSV)' });
  const refusal = { code: 'TOO_MANY_DOWNLOADS', message: 'Two downloads of this account are running.', retry_after: 5 };
  await page.route('**/results.csv', (route) => route.fulfill({ status: 429, json: { error: refusal } }));
  await results.click();
  await page.getByRole('alert').getByText('Two downloads of this account are running. Try again in 5 s.').waitFor();
  for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    await saveScreenshot(page, `${name}-failed-download`);
  }
  await page.setViewportSize(WIDE);
  await page.unroute('**/results.csv');
  await page.route('**/results.csv', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
  await page.locator('a:not([data-pending])', { hasText: 'Download results (CSV)' }).click();
  await page.getByRole('alert').getByText('The response is not from the service.').waitFor();
  await page.unroute('**/results.csv');
  await page.locator('a:not([data-pending])', { hasText: 'Download results (CSV)' }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), results.click()]);
  expect(download.suggestedFilename()).toBe('Kunden; 1-results.csv');
  await page.getByRole('alert').waitFor({ state: 'detached' });
  expect(page.url()).toBe(address);
});

test('a running batch says when it will be done, then what it waits for', async () => {
  const { page } = visit;
  const { world } = dashboard;
  const show = async (name: string) => {
    for (const [width, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
      await page.setViewportSize(viewport);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      await saveScreenshot(page, `${name}-${width}`);
    }
    await page.setViewportSize(WIDE);
  };
  const numbers = Array.from({ length: 200 }, (_, n) => numberOf('MT', n));
  await world.vies.state('MT', { latency_ms: 2_000 });
  await choose('malta.csv', `vat_number\n${numbers.join('\n')}\n`);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'malta.csv' }).waitFor();
  await page.getByText(/Done at about \d\d:\d\d, in (\d minutes|less than a minute)\./).waitFor();
  await show('batch-eta');
  await visit.go('/batches');
  const row = page.getByRole('row', { name: /malta\.csv/ });
  await row.getByText(/at about \d\d:\d\d/).waitFor();
  await show('batches-eta');
  await world.vies.state('MT', { latency_ms: 0, answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
  await row.getByRole('link', { name: 'malta.csv' }).click();
  await page.getByText('Waiting for Malta: down or saturated now.').waitFor({ timeout: 30_000 });
  await show('batch-waiting');
  await visit.go('/batches');
  await row.getByText('waits for Malta').waitFor();
  await world.vies.state('MT', { latency_ms: null, answer: null });
  await row.getByText('completed', { exact: true }).waitFor({ timeout: 30_000 });
});

test('of two files the one that was chosen last is shown, also when the other takes longer to read', async () => {
  const own = await dashboard.visit();
  await own.enter(EMAIL);
  const { page } = own;
  // The first file is read once `release` is called.
  await page.addInitScript(`
    const read = File.prototype.arrayBuffer;
    const held = new Promise((resolve) => { window.release = resolve; });
    File.prototype.arrayBuffer = async function () {
      if (this.name === 'slow.csv') await held;
      const bytes = await read.call(this);
      if (this.name === 'slow.csv') window.isRead = true;
      return bytes;
    };`);
  await own.go('/batches');
  const chooseFile = (name: string, number: string) =>
    page
      .getByLabel('CSV file')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(`vat_number\n${number}\n`) });
  const preview = page.getByRole('region', { name: 'Preview' });
  await chooseFile('slow.csv', 'ATU33803803');
  await chooseFile('fast.csv', 'FR40303265045');
  await preview.getByRole('row', { name: /FR40303265045/ }).waitFor();
  await page.evaluate('window.release()');
  await page.waitForFunction('window.isRead');
  await untilRendered(page);
  expect(await preview.getByRole('definition').first().textContent()).toBe('fast.csv');
  expect(own.complaints()).toEqual([]);
  await own.close();
});

test('label and requester that were typed are still there after another file was chosen', async () => {
  const { page } = visit;
  const chooseNext = (number: string) =>
    page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'next.csv', mimeType: 'text/csv', buffer: Buffer.from(`vat_number\n${number}\n`) });
  await choose('first.csv', 'vat_number\nFR40303265046\n');
  await page.getByLabel('Label').fill('Goods of November');
  await page.getByLabel('Requester').fill('DE136695976');
  await chooseNext('FR40303265045');
  await region('Preview').getByText('next.csv').waitFor();
  expect(await page.getByLabel('Label').inputValue()).toBe('Goods of November');
  await page.getByRole('button', { name: 'Choose another file' }).click();
  await page.getByLabel('Label').waitFor({ state: 'hidden' });
  await chooseNext('FR40303265045');
  expect(await page.getByLabel('Requester').inputValue()).toBe('DE136695976');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'Goods of November' }).waitFor();
});

test('an upload waits for its running first attempt and creates one batch', async () => {
  const { page } = visit;
  const keys: (string | undefined)[] = [];
  await page.route('**/app/api/batches', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    const error = { code: 'IDEMPOTENCY_IN_PROGRESS', message: 'The first request still runs.', retry_after: 0 };
    return route.fulfill({ status: 409, json: { error } });
  });
  await choose('twice.csv', 'vat_number\nFR40303265045\n');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'twice.csv' }).waitFor();
  expect([keys.length, keys[0]]).toEqual([2, keys[1]]);
  await page.unroute('**/app/api/batches');
});

test('an upload that has succeeded is not repeated before the page of its batch is shown', async () => {
  const { page } = visit;
  const load = await holdRequests(page, /batch-page/);
  await choose('slow.csv', 'vat_number\nFR40303265045\n');
  let uploads = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/batches')) uploads += 1;
  });
  const loading = page.waitForRequest(/batch-page/);
  // At every moment until the form is gone, such as between the response and its rendering.
  await atEveryMoment(page.locator('form'), 'requestSubmit');
  await loading;
  await page.getByLabel('Label').press('Enter');
  load();
  await page.getByRole('heading', { level: 1, name: 'slow.csv' }).waitFor();
  expect(uploads).toBe(1);
  await page.unroute(/batch-page/);
});

test('a file that was changed after its preview is not uploaded, and the page says why', async () => {
  const { page } = visit;
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-upload-'));
  const file = path.join(folder, 'changed.csv');
  await writeFile(file, 'vat_number\nFR40303265045\n');
  await visit.go('/batches');
  await page.getByLabel('CSV file').setInputFiles(file);
  await region('Preview')
    .getByRole('row', { name: /FR40303265045/ })
    .waitFor();
  await writeFile(file, 'vat_number\nFR40303265045\nATU33803803\n');
  // Browsers compare the time to the second.
  const later = new Date(Date.now() + 5_000);
  await utimes(file, later, later);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('alert').getByText('It may have been changed or moved since you chose it').waitFor();
  await page.getByRole('button', { name: 'Choose another file' }).click();
  await page.getByLabel('CSV file').setInputFiles(file);
  await region('Preview')
    .getByRole('row', { name: /ATU33803803/ })
    .waitFor();
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'changed.csv' }).waitFor();
  await rm(folder, { recursive: true });
});

test('a completed batch is deleted after confirmation; a running one shows an error', async () => {
  const { page } = visit;
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  };
  await dashboard.world.vies.script('PT501964843', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  await choose('one.csv', 'vat_number\nPT501964843\n');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'one.csv' }).waitFor();
  await remove();
  await page.getByRole('alert').getByText('The batch is still queued or running.').waitFor();
  await dashboard.world.vies.script('PT501964843', [{ kind: 'valid' }]);
  await page.getByText('completed', { exact: true }).waitFor();
  await remove();
  await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor();
  await page.getByRole('row', { name: /Suppliers/ }).waitFor();
  await page.getByRole('row', { name: /one\.csv/ }).waitFor({ state: 'detached' });
});

test('a deletion is shown while it is under way, and does not navigate once the page was left', async () => {
  const { page } = visit;
  await choose('slow.csv', 'vat_number\nFR40303265045\n');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { level: 1, name: 'slow.csv' }).waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  const answer = await holdRequests(page, '**/app/api/batches/*', 'DELETE');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('button[data-pending]', { hasText: 'Delete' }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Watches', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Watches' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'slow.csv' }).waitFor();
  answer();
  await page.getByRole('heading', { level: 1, name: 'Batch not found' }).waitFor();
  await page.unroute('**/app/api/batches/*');
});

test.each([
  ['empty.csv', '', /no data row/],
  ['words.csv', 'a,b\nc,d\n', /No column can be the VAT number/],
  ['quote.csv', 'vat_number\n"DE123\n', /line 2/],
  ['book.xlsx', Buffer.from('PK\u0003\u0004 and so on'), /./],
  ['large.csv', Buffer.alloc(2 * 1024 * 1024 + 1, 'x'), /over 2 MiB/],
])('%s is rejected without being uploaded', async (name, text, message) => {
  await choose(name, text);
  await visit.page.getByRole('alert').getByText(message).waitFor();
  expect(await visit.page.getByRole('button', { name: 'Upload' }).count()).toBe(0);
});

test('a watch is added, shows its first check and a change, and is paused, edited and deleted', async () => {
  const { page } = visit;
  const { world } = dashboard;
  await world.vies.script('FR40303265045', [{ kind: 'valid', name: 'OLD <b>NAME</b>', address: 'A' }]);
  await visit.go('/watches');
  await page.getByRole('button', { name: 'Add watch' }).click();
  await page.getByRole('alert').getByText('VAT number is required.').waitFor();
  await page.getByLabel('VAT number').fill('FR 40 303 265 045');
  await page.getByLabel('Label').fill('Supplier 7');
  await page.getByLabel('Frequency').selectOption('daily');
  await page.getByRole('button', { name: 'Add watch' }).click();
  const row = page.getByRole('row', { name: /FR40303265045/ });
  await row.getByText('active', { exact: true }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await row.getByText('not yet').waitFor({ state: 'detached' });

  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByRole('button', { name: 'Add watch' }).click();
  await page.getByRole('alert').getByText('The account already watches this number.').waitFor();

  await row.getByRole('link', { name: 'FR40303265045' }).click();
  await page.getByText('No changes').waitFor();
  await world.vies.script('FR40303265045', [{ kind: 'valid', name: 'NEW & NAME', address: 'A' }]);
  await world.admin('watch', 'run', String(page.url().split('/').at(-1)));
  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.getByText('NEW & NAME').waitFor();
  await changes.getByText('OLD <b>NAME</b>').waitFor();

  // Pending until the page shows the new status: it would offer Pause again.
  const read = await holdRequests(page, /\/app\/api\/watches/, 'GET');
  const pause = page.getByRole('button', { name: 'Pause' });
  const since = performance.now();
  await Promise.all([page.waitForResponse((response) => response.request().method() === 'PATCH'), pause.click()]);
  await until('the shortest time of a call to pass', () => performance.now() - since > 600);
  expect(await pause.getAttribute('data-pending')).toBe('true');
  read();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.unroute(/\/app\/api\/watches/);
  await page.getByLabel('Label').fill('Renamed');
  await page.getByLabel('Frequency').selectOption('weekly');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('main').getByText('Renamed', { exact: true }).waitFor();
  // Keyboard users are still at the form.
  await page.locator('button[type=submit]:focus', { hasText: 'Apply' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('active', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No watches yet').waitFor();
});

test('a label that is being typed is not lost when the watch is changed elsewhere, and the other fields follow', async () => {
  const { page } = visit;
  const { method, post } = dashboard.world.http(owner.live_key);
  const { body: watch } = await post('/v1/watches', { vat_number: 'LU26375245', frequency: 'weekly', label: 'One' });
  const change = (body: object) => method('patch', `/v1/watches/${watch.watch_id}`).send(body).expect(200);
  const [label, frequency] = [page.getByLabel('Label'), page.getByLabel('Frequency')];
  const shown = async () => [await label.inputValue(), await frequency.inputValue()].join();
  await visit.go(`/watches/${watch.watch_id}`);
  await label.fill('What I am typing');
  const values = await atEveryMoment(label);
  await change({ frequency: 'daily' });
  await until('the frequency to follow', async () => (await frequency.inputValue()) === 'daily');
  expect(await label.inputValue()).toBe('What I am typing');
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.method() === 'PATCH'),
    page.getByRole('button', { name: 'Apply' }).click(),
  ]);
  expect(request.postDataJSON()).toEqual({ label: 'What I am typing' });
  await page.getByRole('main').getByText('What I am typing', { exact: true }).waitFor();
  // What was saved follows again.
  await until('both fields to follow', async () => {
    await change({ label: 'Two', frequency: 'weekly' });
    return (await shown()) === 'Two,weekly';
  });
  // At no moment was the former label shown again.
  expect(await values.jsonValue()).toEqual(['What I am typing', 'Two']);
});

test('a plan without watches is explained in the form and after submission', async () => {
  const free = await dashboard.visit({ refused: /\/app\/api\/watches$/ });
  await free.enter('free@example.com');
  const { page } = free;
  await free.go('/watches');
  await page.getByText('Your plan, free, includes no watches.').waitFor();
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByRole('button', { name: 'Add watch' }).click();
  await page.getByRole('alert').getByText('Choose another frequency or a larger plan.').waitFor();

  // A watch from an earlier, larger plan can still be renamed.
  await dashboard.world.sql(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     VALUES ($1, $2, 'IE6388047V', 'IE', '6388047V', 'IE6388047V', 'daily', 'paused', now(), now() + interval '1 day')`,
    [newUuid(), uuidOf('account', freeAccount.account_id)],
  );
  await free.go('/watches');
  await page.getByRole('link', { name: 'IE6388047V' }).click();
  await page.getByRole('heading', { level: 1, name: 'IE6388047V' }).waitFor();
  await page.getByLabel('Label').fill('Kept');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('main').getByText('Kept', { exact: true }).waitFor();

  // No run of it could be made yet: its first check is not said to be soon.
  const change = (set: string) => dashboard.world.sql(`UPDATE watch SET ${set} WHERE vat_number = 'IE6388047V'`, []);
  await change('missed_since = now()');
  await page.reload();
  await page.getByText('not yet; the first check is the baseline').waitFor();
  await page.getByText(/^(?!.*tried every day).* VIES gave no answer/).waitFor();
  await change(`state = 'active'`);
  await page.reload();
  await page.getByText(/; tried every day\. VIES gave no answer/).waitFor();
  expect(free.complaints()).toEqual([]);
  await free.close();
});
