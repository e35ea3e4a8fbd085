import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { uuidOf } from '@vat/domain';
import { faultSize, insertChecks, reportFigure, type TestAccount, until } from '@vat/testkit';
import type { Request } from 'playwright-core';
import { type Dashboard, NARROW, openDashboard, type Visit, WIDE } from './testing/open-dashboard.fixture.js';
import { saveScreenshot } from './testing/save-screenshot.fixture.js';
import { seriousFindings } from './testing/serious-findings.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
let account: TestAccount;
let checkId: string;
let get: ReturnType<Dashboard['world']['http']>['get'];
/** Creates a check and returns its id. */
let check: (vatNumber: string) => Promise<string>;
beforeAll(async () => {
  // The tests close anchors explicitly; the first scheduled closing may still come between two checks.
  dashboard = await openDashboard({ settings: { ANCHOR_EVERY: '1h' } });
  const { world } = dashboard;
  account = await dashboard.account(EMAIL);
  const http = world.http(account.live_key);
  get = http.get;
  // On a busy machine a check may be answered with 202.
  check = async (vatNumber) => {
    const requestId: string = (await http.post('/v1/checks', { vat_number: vatNumber })).body.request_id;
    return until('the check', async () => (await get(`/v1/requests/${requestId}`)).body.check?.id);
  };
  checkId = await check('FR40303265045');
  await check('BE0203201340');
  await world.admin('anchor', 'close');
  await check('NL004495445B01');
  await world.admin('anchor', 'close');
  visit = await dashboard.visit({ refused: /\.tsr$/ });
  await visit.enter(EMAIL);
});
afterAll(() => dashboard?.close());
afterEach(() => expect(visit.complaints()).toEqual([]));

/** Clicks and returns the downloaded file. */
const save = async (role: 'link' | 'button', name: string): Promise<{ name: string; bytes: Buffer }> => {
  const [download] = await Promise.all([
    visit.page.waitForEvent('download'),
    visit.page.getByRole(role, { name }).first().click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
};

test('the bytes, the displayed data and the anchor of a check are verified in the browser', async () => {
  const { page } = visit;
  const { body: proof } = await get(`/v1/checks/${checkId}/anchor`);
  const { body: anchor } = await get(`/v1/anchors/${proof.anchor_id}`);
  await visit.go(`/checks/${checkId}`);
  await page.getByRole('heading', { level: 3, name: 'Anchor' }).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Verified').nth(2).waitFor();
  expect(await page.getByRole('status').getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Verified The SHA-256 of/),
    expect.stringMatching(/^Verified The data on this page/),
    `Verified Leaf ${proof.leaf_index + 1} of ${anchor.tree_size} in anchor ${anchor.seq}: the path of ${proof.path.length} hashes leads to the root ${anchor.root}.`,
  ]);
});

test('a time-stamp is requested, appears with its development notice and can be downloaded', async () => {
  const { page } = visit;
  await visit.go(`/checks/${checkId}`);
  await page.getByRole('button', { name: 'Request time-stamp' }).click();
  await page.getByRole('heading', { level: 3, name: 'Time-stamp' }).waitFor();
  await page.getByText(/does not prove the time/).waitFor();
  const { name, bytes } = await save('button', 'Download time-stamp');
  expect([name, bytes[0]]).toEqual([`${checkId}.tsr`, 0x30]);
});

test('the evidence and the certificate can be downloaded', async () => {
  await visit.go(`/checks/${checkId}`);
  const evidence = await save('link', 'Download evidence');
  expect(JSON.parse(evidence.bytes.toString('utf8')).id).toBe(checkId);
  const certificate = await save('link', 'Certificate (PDF)');
  expect(certificate.bytes.subarray(0, 5).toString()).toBe('%PDF-');
  expect(certificate.bytes.includes('/Lang (en)')).toBe(true);
  await visit.page.getByLabel('Language of the certificate').selectOption({ label: 'Polski' });
  const polish = await save('link', 'Certificate (PDF)');
  expect(polish.bytes.includes('/Lang (pl)')).toBe(true);
});

test('a page of a proxy in place of the evidence is neither saved nor taken for forged evidence', async () => {
  const { page } = visit;
  await page.route('**/evidence', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
  await visit.go(`/checks/${checkId}`);
  for (const name of ['Verify', 'Download evidence']) {
    await page.getByRole(name === 'Verify' ? 'button' : 'link', { name }).click();
    await page.getByRole('alert').getByText('The response is not from the service.').first().waitFor();
    expect(await page.getByText('Not verified').count()).toBe(0);
    await visit.go(`/checks/${checkId}`);
  }
  await page.unroute('**/evidence');
});

test('the public link of a check is copied, and opens a page that verifies it without a session', async () => {
  const { page } = visit;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit.go(`/checks/${checkId}`);
  await page.getByRole('button', { name: 'Copy public link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const url = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(url).toBe((await get(`/v1/checks/${checkId}/link`)).body.url);
  await page.emulateMedia({ media: 'print' });
  expect(
    await page
      .getByRole('button')
      .or(page.getByRole('link', { name: /^Download/ }))
      .count(),
  ).toBe(0);
  await page.emulateMedia({ media: 'screen' });

  const visitor = await dashboard.visit({ viewport: NARROW, refused: /\/verify\// });
  await visitor.page.goto(url);
  await visitor.page.getByText('Verified in your browser.').waitFor();
  await visitor.page.getByRole('heading', { level: 1, name: 'FR40303265045' }).waitFor();
  const findings = visitor.page.getByRole('listitem').filter({ hasText: /^(Verified|Not verified) / });
  expect(await findings.allTextContents()).toEqual([
    expect.stringMatching(/^Verified The SHA-256 of/),
    expect.stringMatching(/^Verified The data on this page/),
    expect.stringMatching(/^Verified The hash is leaf \d+ of \d+ in anchor \d+/),
    expect.stringMatching(/^Verified Anchors 1 to \d+ form a chain/),
  ]);
  expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBe(NARROW.width);
  expect(await seriousFindings(visitor.page)).toEqual([]);
  await saveScreenshot(visitor.page, 'public-check-narrow');
  await visitor.page.emulateMedia({ media: 'print' });
  expect(await visitor.page.getByRole('button').count()).toBe(0);
  await visitor.page.emulateMedia({ media: 'screen' });

  // One changed byte of the check.
  await visitor.page.route('**/verify/*.json', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('FR40303265045', 'FR40303265046') });
  });
  await visitor.page.reload();
  await visitor.page.getByRole('alert').getByText('Verification failed.').waitFor();
  expect(await findings.filter({ hasText: /^Not verified / }).count()).toBe(2);
  expect(await visitor.page.getByText('valid', { exact: true }).count()).toBe(0);
  // A handler that fetches may still run.
  await visitor.page.unrouteAll({ behavior: 'wait' });

  await visitor.page.goto(`${url}A`);
  await visitor.page.getByRole('alert').getByText('This link shows no check.').waitFor();
  expect(visitor.complaints()).toEqual([]);
  await visitor.close();
});

test('the public page of a test check says nothing in the name of VIES', async () => {
  const { get: read, post } = dashboard.world.http(account.test_key);
  const { body } = await post('/v1/checks', { vat_number: 'DE101' });
  const id = await until('the check', async () => (await read(`/v1/requests/${body.request_id}`)).body.check?.id);
  await visit.page.goto((await read(`/v1/checks/${id}/link`)).body.url);
  await visit.page.getByText('This is a test check.').waitFor();
  await visit.page.getByRole('region', { name: 'Result' }).getByText(id).waitFor();
  expect(await visit.page.getByText('VIES states no name').count()).toBe(0);
});

test('a public link that cannot be read says why, and appears once it can', async () => {
  const visitor = await dashboard.visit({ refused: /\/link$/ });
  await visitor.enter(EMAIL);
  const { page } = visitor;
  await page.route('**/link', (route) => route.fulfill({ status: 503, json: {} }));
  await visitor.go(`/checks/${checkId}`);
  const card = page.getByRole('region', { name: 'Evidence' });
  await card.getByRole('alert').getByText('The service responded with status 503').waitFor();
  await page.unroute('**/link');
  await card.getByRole('button', { name: 'Copy public link' }).waitFor();
  await card.getByRole('alert').waitFor({ state: 'detached' });
  expect(visitor.complaints()).toEqual([]);
  await visitor.close();
});

test('the chain of anchors is verified in the browser', async () => {
  const { page } = visit;
  const anchors = (await get('/v1/anchors')).body.data.toReversed() as { seq: number; prev_anchor_hash: string }[];
  await visit.go('/evidence');
  await page.getByRole('row').nth(anchors.length).waitFor();
  await page.getByRole('button', { name: 'Verify chain' }).click();
  await page.getByText('Verified').first().waitFor();
  expect(await page.getByRole('status').getByRole('listitem').allTextContents()).toEqual([
    'Verified Anchor 1 is the first anchor and has no predecessor.',
    ...anchors
      .slice(1)
      .map(
        ({ seq, prev_anchor_hash: hash }) => `Verified Anchor ${seq} contains the hash of anchor ${seq - 1}, ${hash}.`,
      ),
  ]);
  expect(anchors.length).toBeGreaterThan(1);
});

test('a dossier is exported, also when no check matches the filters', async () => {
  const { page } = visit;
  await visit.go('/evidence');
  const all = await save('button', 'Export dossier');
  expect(all.name).toMatch(/^vat-dossier-\d{4}-[\dTZ-]+\.zip$/);
  expect(all.bytes.subarray(0, 2).toString()).toBe('PK');
  expect(all.bytes.includes(`checks/${checkId}.json`)).toBe(true);
  await page.getByText(new RegExp(`^Exported ${all.name} \\([1-9]\\d* checks?, \\S+ kB\\)\\.$`)).waitFor();
  await page.getByLabel('Reference').fill('nothing has this');
  const none = await save('button', 'Export dossier');
  expect(none.bytes.includes(`checks/${checkId}.json`)).toBe(false);
  await page.getByText(new RegExp(`^Exported ${none.name} \\(0 checks, \\S+ kB\\)\\. No check matches\\.$`)).waitFor();
});

test.each([
  ['/evidence', 'Export dossier'],
  ['/checks', 'Filter'],
])('%s reports an incomplete date and an empty period', async (address, button) => {
  const { page } = visit;
  await visit.go(address);
  const sent: string[] = [];
  const count = (request: Request) => void sent.push(request.url());
  const expectAlert = async (sentence: string) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('alert').getByText(sentence, { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  };
  page.on('request', count);
  // An incomplete date.
  await page.getByLabel('From').focus();
  await page.keyboard.type('12');
  await expectAlert('From (UTC) is not a complete date.');
  await page.getByLabel('From').fill('2026-03-02');
  await page.getByLabel('Before').fill('2026-03-01');
  await expectAlert('Before must be later than From.');
  page.off('request', count);
  expect(sent.filter((url) => /dossier|from=/.test(url))).toEqual([]);
});

describe('a dossier that is verified on the page', () => {
  const CHECKS = faultSize(20, 10_000);
  const MAX_SECONDS = 20;
  /** The page answers within this time while a dossier is verified. */
  const MAX_GAP_MS = 500;
  let folder: string;
  let zip: Buffer;
  const region = () => visit.page.getByRole('region', { name: 'Verify a dossier' });
  const result = () => region().getByRole('listitem').first();
  const choose = async (name: string, bytes: Buffer) => {
    const file = path.join(folder, name);
    await writeFile(file, bytes);
    await region().getByLabel('Dossier (zip file)').setInputFiles(file);
  };

  beforeAll(async () => {
    const { world } = dashboard;
    const owner = await dashboard.account('many@example.com');
    await insertChecks(world, { accountId: owner.account_id, count: CHECKS });
    await world.admin('anchor', 'close');
    const headers = { authorization: `Bearer ${owner.live_key}` };
    zip = Buffer.from(await (await fetch(`${world.baseUrl()}/v1/exports/dossier.zip`, { headers })).arrayBuffer());
    folder = await mkdtemp(path.join(tmpdir(), 'vat-verify-'));
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('is read in the browser alone, without holding the page up', async () => {
    const { page } = visit;
    await visit.go('/evidence');
    await region().waitFor();
    const sent: string[] = [];
    const record = (request: Request) => void (request.method() !== 'GET' && sent.push(request.url()));
    page.on('request', record);
    await page.evaluate(`
      window.longestGap = 0;
      let before = performance.now();
      const tick = () => {
        window.longestGap = Math.max(window.longestGap, performance.now() - before);
        before = performance.now();
        window.ticking = setTimeout(tick, 10);
      };
      tick();
    `);
    const startedAt = performance.now();
    await choose('dossier.zip', zip);
    await result().getByText('All holds, except the times.').waitFor({ timeout: 120_000 });
    const seconds = (performance.now() - startedAt) / 1_000;
    const gap = Number(await page.evaluate('clearTimeout(window.ticking); Math.round(window.longestGap)'));
    page.off('request', record);
    reportFigure(
      `${CHECKS} checks verified in the browser in ${seconds.toFixed(1)} s; the page was held up ${gap} ms at most`,
    );
    expect(await result().textContent()).toContain(`(${CHECKS.toLocaleString('en-GB')} checks, `);
    expect(sent).toEqual([]);
    expect(seconds).toBeLessThan(MAX_SECONDS);
    expect(gap).toBeLessThan(MAX_GAP_MS);
  }, 240_000);

  test('and was changed is reported with the check, its number, and what to do', async () => {
    const { page } = visit;
    const changed = Buffer.from(zip);
    const at = changed.indexOf('"valid":true');
    changed.write('"valid":trve', at);
    await visit.go('/evidence');
    await region().waitFor();
    await choose('changed.zip', changed);
    await result().getByText('Does not hold.').waitFor({ timeout: 60_000 });
    const text = (await region().getByRole('alert').textContent()) ?? '';
    expect(text).toMatch(
      /checks\/chk_\w+\.json was changed: its SHA-256 is not the one in SHA256SUMS \(VAT number FR\d+\)/,
    );
    expect(text).toContain('This copy is not the dossier that was exported. Do not rely on it.');
    await saveScreenshot(page, 'evidence-changed-dossier');
    await page.setViewportSize(NARROW);
    await saveScreenshot(page, 'evidence-changed-dossier-narrow');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW.width);
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize(WIDE);
  });

  test('can be dropped, and says what another file is', async () => {
    const { page } = visit;
    await visit.go('/evidence');
    await region().waitFor();
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['<!doctype html>'], 'page.zip'));
      return transfer;
    })()`);
    await region().locator('.drop').dispatchEvent('drop', { dataTransfer: transfer });
    await result().getByText('Not verified.').waitFor();
    expect(await result().textContent()).toMatch(/page\.zip: The file is not a complete zip file\./);
    await choose('half.zip', zip.subarray(0, zip.length >> 1));
    await result().getByText('half.zip').waitFor();
    expect(await result().textContent()).toMatch(/if its download broke off, download it again/);
  });
});

test('leaving the page cancels a running export', async () => {
  const { page } = visit;
  await visit.go('/evidence');
  await page.route('**/exports/dossier.zip*', () => undefined);
  await Promise.all([
    page.waitForRequest('**/exports/dossier.zip*'),
    page.getByRole('button', { name: 'Export dossier' }).click(),
  ]);
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/exports/dossier.zip'));
  await page.getByRole('link', { name: 'Overview' }).click();
  await ended;
  await page.unroute('**/exports/dossier.zip*');
});

test('an open check shows its anchor once it exists', async () => {
  const { page } = visit;
  await visit.go(`/checks/${await check('PT501964843')}`);
  await page.getByText('This check becomes part of the next anchor').waitFor();
  await dashboard.world.admin('anchor', 'close');
  await page.getByRole('heading', { level: 3, name: 'Anchor' }).waitFor();
});

test('the download of a time-stamp that does not exist yet says so', async () => {
  const { page } = visit;
  await check('LU26375245');
  const anchor = await dashboard.world.admin('anchor', 'close');
  await dashboard.world.sql('DELETE FROM stamp WHERE subject_id = $1', [uuidOf('anchor', String(anchor.anchor_id))]);
  await visit.go('/evidence');
  const row = page.getByRole('row').filter({ hasText: String(anchor.root) });
  await row.getByRole('button', { name: 'Download' }).click();
  await row.getByRole('alert').getByText('The anchor has no time-stamp yet. Try again later.').waitFor();
});
