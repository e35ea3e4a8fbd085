import { configureWebhook, openReceivers, type Receivers, until } from '@vat/testkit';
import { type Dashboard, NARROW, openDashboard, type Visit, WIDE } from './testing/open-dashboard.fixture.js';
import { saveScreenshot } from './testing/save-screenshot.fixture.js';
import { seriousFindings } from './testing/serious-findings.fixture.js';

const EMAIL = 'owner@example.com';
/** The minimum width of WCAG 1.4.10. */
const NARROWEST = { width: 320, height: 844 };
/** Widths between the two, of tablets and of windows beside others: below and above each width at which a layout begins. */
const BETWEEN = [761, 900, 910, 1024, 1120, 1121];
/** An unknown id and a malformed one. Without escaping, the second would request the list. */
const NO_IDS = { unknown: '01h45ytscbebyvny4gc8cr8ma2', malformed: '%00' };

let receivers: Receivers;
let dashboard: Dashboard;
/** One page per width, shared by all tests to save loading time. */
const visits: Partial<Record<'wide' | 'narrow', Visit>> = {};
/** Ids of objects of the account, for the detail pages. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  receivers = openReceivers();
  dashboard = await openDashboard({
    settings: { ...receivers.settings, BACKGROUND_GIVE_UP_AFTER: '10m', WATCHES_EVERY: '300ms' },
  });
  const { world } = dashboard;
  const [account, receiver] = await Promise.all([
    dashboard.account(EMAIL, { name: 'Müller & Söhne' }),
    receivers.start(),
    world.vies.script('PT501964843', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]),
    world.vies.script('NL004495445B01', [{ kind: 'invalid' }]),
  ]);
  await configureWebhook(world, account, receiver.url);
  const { get, post } = world.http(account.live_key);
  // On a busy machine a check may be answered with 202.
  const check = async (body: object): Promise<string> => {
    const requestId: string = (await post('/v1/checks', body)).body.request_id;
    return until('the check', async () => (await get(`/v1/requests/${requestId}`)).body.check?.id);
  };
  const [checkId, pending, watch, batch, sent] = await Promise.all([
    check({ vat_number: 'FR40303265045', reference: 'order-7' }),
    post('/v1/checks', { vat_number: 'PT501964843' }).expect(202),
    post('/v1/watches', { vat_number: 'BE0203201340', label: 'Supplier 7', frequency: 'weekly' }).expect(201),
    post('/v1/batches').set('Content-Type', 'text/csv').send('vat_number,name\nDE136695976,A\n123,B\n').expect(201),
    post('/v1/webhook/test').expect(202),
    check({ vat_number: 'NL004495445B01' }),
    check({ vat_number: 'DE12' }),
  ]);
  Object.assign(ids, {
    check: checkId,
    request: pending.body.request_id,
    watch: watch.body.watch_id,
    batch: batch.body.batch_id,
    delivery: sent.body.delivery_id,
  });
  const today = new Date().toISOString().slice(0, 10);
  const supplies = ['FR40303265045', 'NL004495445B01', 'ATU33803803', '12345678'];
  const coverage = await post('/v1/coverage?label=October')
    .set('Content-Type', 'text/csv')
    .send(['vat_number,date,reference', ...supplies.map((number, n) => `${number},${today},R-${n}`)].join('\n'))
    .expect(201);
  ids.coverage = coverage.body.coverage_id;
  await until('the test event', () => receiver.arrivals[0]);
  const [wide, narrow] = await Promise.all([
    dashboard.visit({ viewport: WIDE, refused: /\/app\/api\/[^?]+(01h45ytscbebyvny4gc8cr8ma2|%00)/ }),
    dashboard.visit({ viewport: NARROW, colorScheme: 'dark' }),
  ]);
  Object.assign(visits, { wide, narrow });
  await Promise.all([wide.enter(EMAIL), narrow.enter(EMAIL)]);
});
afterAll(async () => {
  await dashboard?.close();
  await receivers?.close();
});

/** Each page with its h1 and a text that is visible once the page has loaded. */
const PAGES: readonly [address: string, heading: string, shown: string][] = [
  ['/', 'Overview', 'more reserved for pending checks, including batches and watches'],
  ['/checks', 'Checks', 'order-7'],
  ['/checks/:check', 'FR40303265045', 'Timeline'],
  ['/checks/new', 'New check', 'Reference'],
  ['/checks/new?request=:request', 'New check', 'The member state has not answered yet'],
  ['/batches', 'Batches', 'completed'],
  ['/batches/:batch', 'Batch', '2 of 2 lines'],
  ['/coverage', 'Coverage', 'October'],
  ['/coverage/:coverage', 'October', '1 of 4 supplies is covered'],
  ['/watches', 'Watches', 'Supplier 7'],
  ['/watches/:watch', 'BE0203201340', 'No changes'],
  ['/evidence', 'Evidence', 'Dossier'],
  ['/deliveries', 'Deliveries', 'webhook.test'],
  ['/deliveries/:delivery', 'webhook.test', 'X-Service-Timestamp'],
  ['/settings', 'Settings', 'import express'],
  ['/welcome', 'Welcome', 'First steps'],
];

describe.each(['wide', 'narrow'] as const)('on a %s screen', (width) => {
  test.each(PAGES)(
    '%s opens at its URL, fits the width and has no serious axe violations',
    async (address, heading, shown) => {
      const { page, go, complaints } = visits[width] as Visit;
      await go(address.replace(/:(\w+)/, (_, name: string) => String(ids[name])));
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await page.getByText(shown).first().waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page.title()).toContain(heading);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width);
      expect(await seriousFindings(page)).toEqual([]);
      if (width === 'wide') {
        for (const between of BETWEEN) {
          await page.setViewportSize({ ...WIDE, width: between });
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(between);
        }
        await page.setViewportSize(WIDE);
      } else {
        await page.setViewportSize(NARROWEST);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(NARROWEST.width);
        await page.setViewportSize(NARROW);
      }
      await saveScreenshot(page, `${width}${address.replaceAll(/[^\w]+/g, '-')}`);
      expect(complaints().splice(0)).toEqual([]);
    },
  );

  test('each navigation link leads to its page', async () => {
    const { page, go } = visits[width] as Visit;
    await go('/');
    for (const name of ['Checks', 'Batches', 'Coverage', 'Watches', 'Evidence', 'Deliveries', 'Settings', 'Overview']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(await page.getByRole('link', { name, exact: true }).getAttribute('aria-current')).toBe('page');
    }
    // On narrow screens the navigation scrolls sideways to the link of a page that is loaded.
    await go('/settings');
    await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor();
    const link = await page.getByRole('link', { name: 'Settings', exact: true }).boundingBox();
    expect(link && link.x >= 0 && link.x + link.width <= (page.viewportSize()?.width ?? 0)).toBe(true);
  });
});

test.each([
  ['/checks/', 'chk_', 'Check'],
  ['/batches/', 'bat_', 'Batch'],
  ['/coverage/', 'cov_', 'Coverage'],
  ['/watches/', 'wat_', 'Watch'],
  ['/deliveries/', 'dlv_', 'Delivery'],
])(
  '%s with an unknown or malformed id shows a not-found page with one alert and no actions',
  async (address, prefix, what) => {
    const { page, go, complaints } = visits.wide as Visit;
    const shownFor = async (id: string) => {
      await go(`${address}${id}`);
      await page.getByRole('heading', { level: 1, name: `${what} not found`, exact: true }).waitFor();
      const main = page.getByRole('main');
      await page.getByRole('alert').getByText('Go back to the list.').waitFor();
      const shown = ['heading', 'alert', 'button'] as const;
      expect(await Promise.all(shown.map((role) => main.getByRole(role).count()))).toEqual([1, 1, 0]);
      return main.innerHTML();
    };
    const unknown = await shownFor(`${prefix}${NO_IDS.unknown}`);
    expect(await seriousFindings(page)).toEqual([]);
    // The very same page, whose violations are known.
    expect(await shownFor(NO_IDS.malformed)).toBe(unknown);
    expect(complaints()).toEqual([]);
  },
);

test('the text of map tiles stays inside the tiles on a narrow screen', async () => {
  const { page, go } = visits.narrow as Visit;
  const times = [999, 9_900, 119_000, 3_540_000];
  await page.route('**/app/api/status', async (route) => {
    const answer = await route.fetch();
    const { member_states: states } = (await answer.json()) as { member_states: object[] };
    const slow = states.map((state, index) => ({ ...state, asks: 9, health: 'down', p95_ms: times[index % 4] }));
    await route.fulfill({ response: answer, json: { member_states: slow } });
  });
  await go('/');
  await page.getByText('59 min').first().waitFor();
  const overflowing = `[...document.querySelectorAll('.tile')].filter((tile) => [...tile.querySelectorAll('[aria-hidden]')].some((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const [{ left, right, top, bottom }, own] = [tile.getBoundingClientRect(), range.getBoundingClientRect()];
    return own.left < left + 2 || own.right > right - 2 || own.top < top + 2 || own.bottom > bottom - 2;
  })).map(({ innerText }) => innerText)`;
  expect(await page.evaluate(overflowing)).toEqual([]);
  await saveScreenshot(page, 'narrow-slow-states');
  // A handler that fetches may still run.
  await page.unrouteAll({ behavior: 'wait' });
});

describe('while the service is away', () => {
  let visit: Visit;
  beforeEach(async () => {
    visit = await dashboard.visit({ viewport: WIDE, refused: /./ });
    await visit.enter(EMAIL);
    await visit.go('/');
    await visit.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
  afterEach(() => visit.close());

  test('a link to a page that was not loaded yet keeps the navigation, and the page opens at the next try', async () => {
    const { page } = visit;
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Watches' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'This page could not be loaded.' });
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor();
    await page.getByRole('link', { name: 'Evidence' }).waitFor();
    await page.context().setOffline(false);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Watches' }).waitFor();
  });

  test('a page whose code is missing is reloaded once by itself, and then at each try', async () => {
    const { page } = visit;
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.route('**/assets/watches-page-*', (route) => route.abort());
    await page.getByRole('link', { name: 'Watches' }).click();
    await until('the window to be reloaded', () => loads > 0);
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await again.click();
    await until('the second load', () => loads > 1);
    await again.waitFor();
    await page.unroute('**/assets/watches-page-*');
    await again.click();
    await page.getByRole('heading', { level: 1, name: 'Watches' }).waitFor();
    expect(loads).toBe(3);
  });

  test('a window that was opened shows its page once the service is back', async () => {
    const { page } = visit;
    await page.route('**/app/api/config', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.unroute('**/app/api/config');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
});

test('long words in names, labels and addresses do not widen the pages', async () => {
  const { page, go } = visits.narrow as Visit;
  const { sql } = dashboard.world;
  const word = 'w'.repeat(90);
  const rename = async (email: string, name: string) => {
    await sql('UPDATE app_user SET email = $1', [email]);
    await sql('UPDATE account SET name = $1', [name]);
  };
  await sql('UPDATE watch SET label = $1', [word]);
  await sql(`UPDATE batch SET label = 'Batch', file_name = $1`, [word]);
  await rename(`${word}@example.com`, word);
  for (const address of ['/watches/:watch', '/batches/:batch', '/welcome', '/settings']) {
    await go(address.replace(/:(\w+)/, (_, name: string) => String(ids[name])));
    await page.getByRole('main').getByText(word).first().waitFor();
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    expect([address, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([address, NARROW.width]);
  }
  await rename(EMAIL, 'Müller & Söhne');
});

test('a page in dark colours is printed in light ones', async () => {
  const { page, go } = visits.narrow as Visit;
  await go('/settings');
  await page.getByLabel('Theme').selectOption('dark');
  const text = () => page.evaluate('getComputedStyle(document.body).color');
  const dark = await text();
  await page.emulateMedia({ media: 'print' });
  const printed = await text();
  await page.emulateMedia({ media: 'screen' });
  await page.getByLabel('Theme').selectOption('light');
  expect([printed, printed === dark]).toEqual([await text(), false]);
  await page.getByLabel('Theme').selectOption('system');
});

test('an unknown address shows a not-found page', async () => {
  const { page, go, complaints } = visits.wide as Visit;
  await go('/nowhere');
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  expect(complaints()).toEqual([]);
});

test('the API reference makes its calls to the origin that it was opened with, also where BASE_URL is another', async () => {
  const visit = await dashboard.visit();
  const { page } = visit;
  const origin = dashboard.world.baseUrl().replace('127.0.0.1', 'localhost');
  await page.goto(`${origin}/docs`);
  const operation = page.locator('.opblock', { has: page.locator('[data-path="/verifier"]') });
  await operation.locator('.opblock-summary-control').click();
  const answered = page.waitForResponse(`${origin}/verifier`);
  await operation.getByRole('button', { name: 'Execute' }).click();
  expect((await answered).status()).toBe(200);
  await operation.locator('.live-responses-table').getByText('"object": "verifier"').waitFor();
  expect(visit.complaints().filter((complaint) => !complaint.includes(origin))).toEqual([]);
  await visit.close();
});

test('sign-in and overview load less than 250 KB of script, compressed', async () => {
  const visit = await dashboard.visit();
  let bytes = 0;
  visit.page.on('response', async (response) => {
    if (!response.url().endsWith('.js')) return;
    expect(response.headers()['content-encoding']).toMatch(/^(br|gzip)$/);
    bytes += Number(response.headers()['content-length']);
  });
  await visit.signIn(EMAIL);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(250_000);
  await visit.close();
});

test('countries have their English names in the English pages, whatever the language of the browser', async () => {
  const german = await dashboard.visit({ locale: 'de-DE' });
  await german.enter(EMAIL);
  await german.go(`/checks/${ids.check}`);
  await german.page.getByText('FR · France', { exact: true }).waitFor();
  expect(german.complaints()).toEqual([]);
  await german.close();
});
