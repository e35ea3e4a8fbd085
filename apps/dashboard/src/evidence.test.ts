import { readFile } from 'node:fs/promises';
import { until } from '@vat/testkit';
import type { Request } from 'playwright-core';
import { type Dashboard, openDashboard, type Visit } from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
let checkId: string;
/** Has a number checked; gives the id of the check. */
let check: (vatNumber: string) => Promise<string>;
beforeAll(async () => {
  // An anchor is closed when the test says so, and not by the clock.
  dashboard = await openDashboard({ settings: { ANCHOR_EVERY: '1h' } });
  const { world } = dashboard;
  const { get, post } = world.http((await dashboard.account(EMAIL)).live_key);
  // On a busy machine a check may come by way of a 202.
  check = async (vatNumber) => {
    const requestId: string = (await post('/v1/checks', { vat_number: vatNumber })).body.request_id;
    return until('the check', async () => (await get(`/v1/requests/${requestId}`)).body.check?.id);
  };
  checkId = await check('FR40303265045');
  await check('BE0203201340');
  await world.admin('anchor', 'close');
  await check('NL004495445B01');
  await world.admin('anchor', 'close');
  visit = await dashboard.visit({ refused: /\.tsr$/ });
  await visit.enter(EMAIL);
}, 120_000);
afterAll(() => dashboard?.close());
afterEach(() => expect(visit.complaints()).toEqual([]));

/** Clicks and gives what the browser then saved. */
const save = async (role: 'link' | 'button', name: string): Promise<{ name: string; bytes: Buffer }> => {
  const [download] = await Promise.all([
    visit.page.waitForEvent('download'),
    visit.page.getByRole(role, { name }).first().click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
};

test("a check's bytes, its place in the anchor and what is shown are verified in this browser", async () => {
  const { page } = visit;
  await visit.go(`/checks/${checkId}`);
  await page.getByRole('heading', { level: 3, name: 'Anchor' }).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Holds').nth(2).waitFor();
  expect(await page.getByRole('status').getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Holds SHA-256 of/),
    expect.stringMatching(/^Holds What this page shows/),
    expect.stringMatching(
      /^Holds Leaf \d of the 2 in anchor 1: the path of 1 hashes leads to its root [0-9a-f]{64}\.$/,
    ),
  ]);
});

test('a time-stamp is asked for and appears, says that it is a development one, and is taken away', async () => {
  const { page } = visit;
  await visit.go(`/checks/${checkId}`);
  await page.getByRole('button', { name: 'Request a time-stamp' }).click();
  await page.getByRole('heading', { level: 3, name: 'Time-stamp' }).waitFor();
  await page.getByText(/proves nothing about time/).waitFor();
  const { name, bytes } = await save('button', 'Download the time-stamp');
  expect([name, bytes[0]]).toEqual([`${checkId}.tsr`, 0x30]);
});

test('the bytes and the certificate are taken away', async () => {
  await visit.go(`/checks/${checkId}`);
  const evidence = await save('link', 'Download the bytes');
  expect(JSON.parse(evidence.bytes.toString('utf8')).id).toBe(checkId);
  const certificate = await save('link', 'Certificate (PDF)');
  expect(certificate.bytes.subarray(0, 5).toString()).toBe('%PDF-');
});

test('the chain of anchors is verified in this browser', async () => {
  const { page } = visit;
  await visit.go('/evidence');
  await page.getByRole('row').nth(2).waitFor();
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText('Holds').first().waitFor();
  expect(await page.getByRole('status').getByRole('listitem').allTextContents()).toEqual([
    'Holds Anchor 1 is the first and names none before it.',
    expect.stringMatching(/^Holds Anchor 2 names the hash of anchor 1, [0-9a-f]{64}\.$/),
  ]);
});

test('a dossier is exported and saved, and a choice of nothing is one too', async () => {
  const { page } = visit;
  await visit.go('/evidence');
  const all = await save('button', 'Export dossier');
  expect([all.name, all.bytes.subarray(0, 2).toString()]).toEqual(['dossier.zip', 'PK']);
  expect(all.bytes.includes(`checks/${checkId}.json`)).toBe(true);
  await page.getByText(/^Exported dossier\.zip/).waitFor();
  await page.getByLabel('Reference').fill('nothing has this');
  const none = await save('button', 'Export dossier');
  expect(none.bytes.includes(`checks/${checkId}.json`)).toBe(false);
});

test.each([
  ['/evidence', 'Export dossier'],
  ['/checks', 'Filter'],
])('on %s an incomplete date and a period that holds no day are told as alerts', async (address, button) => {
  const { page } = visit;
  await visit.go(address);
  const asked: string[] = [];
  const count = (request: Request) => void asked.push(request.url());
  const told = async (sentence: string) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('alert').getByText(sentence, { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  };
  page.on('request', count);
  // A day alone, as somebody types it who is called away.
  await page.getByLabel('From').focus();
  await page.keyboard.type('12');
  await told('From is not a complete date.');
  await page.getByLabel('From').fill('2026-03-02');
  await page.getByLabel('Before').fill('2026-03-01');
  await told('Before is the first day that is left out: choose one later than From.');
  page.off('request', count);
  expect(asked.filter((url) => /dossier|from=/.test(url))).toEqual([]);
});

test('leaving the page ends an export that is under way', async () => {
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

test('an open check shows its anchor once there is one', async () => {
  const { page } = visit;
  await visit.go(`/checks/${await check('PT501964843')}`);
  await page.getByText('It is anchored with the next closing').waitFor();
  await dashboard.world.admin('anchor', 'close');
  await page.getByRole('heading', { level: 3, name: 'Anchor' }).waitFor();
});
