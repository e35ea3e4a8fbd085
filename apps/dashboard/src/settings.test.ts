import { newUuid, uuidOf } from '@vat/domain';
import { openReceivers, type Receivers, type TestAccount, until, withStatus } from '@vat/testkit';
import {
  atEveryMoment,
  type Dashboard,
  holdRequests,
  openDashboard,
  untilRendered,
  type Visit,
} from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';

let receivers: Receivers;
let dashboard: Dashboard;
let visit: Visit;
let account: TestAccount;
beforeAll(async () => {
  receivers = openReceivers();
  dashboard = await openDashboard({ settings: { ...receivers.settings, WEBHOOK_RETRY_DELAYS: '500ms,1h' } });
  account = await dashboard.account(EMAIL);
  visit = await dashboard.visit();
  await visit.enter(EMAIL);
});
afterAll(async () => {
  await dashboard?.close();
  await receivers?.close();
});
afterEach(() => expect(visit.complaints()).toEqual([]));

const region = (name: string) => visit.page.getByRole('region', { name, exact: true });
/** Calls to the path that the service refused since the last test; the browser reports each on its console. */
const expectRefusals = async (path: string, times: number) => {
  const refused = (text: string) => text.includes('Failed to load resource') && text.endsWith(path);
  await until('the refusals', () => visit.complaints().filter(refused).length === times);
  const others = visit.complaints().filter((text) => !refused(text));
  visit.complaints().splice(0, Infinity, ...others);
};
const saveWebhook = async (url: string): Promise<string> => {
  await visit.go('/settings');
  const webhook = region('Webhook');
  await webhook.getByLabel('Endpoint URL').fill(url);
  await webhook.getByRole('button', { name: 'Save' }).click();
  return String(await webhook.getByText(/^whsec_[\w+/]{43}=$/).textContent());
};

test('a key is shown once, works, and is rejected after Revoke unless that is undone', async () => {
  await visit.go('/settings');
  const keys = region('API keys');
  await keys.getByLabel('Key name').fill('Shop <1>');
  await keys.getByRole('button', { name: 'Create key' }).click();
  const key = String(await keys.getByText(/^vat_live_\w+$/).textContent());
  const usage = async () => (await dashboard.world.http(key).get('/v1/usage')).status;
  expect(await usage()).toBe(200);

  const row = keys.getByRole('row', { name: /Shop <1>/ });
  const revoke = row.getByRole('button', { name: 'Revoke' });
  // Both run in parallel: Undo is visible for 1.5 s only, which can pass between two calls on a busy machine.
  await Promise.all([row.getByRole('button', { name: 'Undo' }).click(), revoke.click()]);
  // The status is not revoked until the server has confirmed it.
  const answer = await holdRequests(visit.page, '**/app/api/keys/*');
  await Promise.all([visit.page.waitForRequest('**/app/api/keys/*'), revoke.click()]);
  await row.getByText('revoking', { exact: true }).waitFor();
  expect([await row.getByText('revoked').count(), await usage()]).toEqual([0, 200]);
  answer();
  await row.getByText('revoked', { exact: true }).waitFor();
  await keys.getByText(key, { exact: true }).waitFor({ state: 'detached' });
  await visit.page.unroute('**/app/api/keys/*');
  await until('the key to be rejected', async () => (await usage()) === 401, 5_000);
});

test('active keys come first, keys revoked earlier are collapsed, and a blank name is rejected', async () => {
  const { page } = visit;
  await dashboard.world.sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at, revoked_at)
     SELECT id, $2::uuid, 'Old', false, sha256(id::text::bytea), 'abcd', now(), now() - interval '2 days'
     FROM unnest($1::uuid[]) AS k(id)`,
    [Array.from({ length: 101 }, newUuid), uuidOf('account', account.account_id)],
  );
  await visit.go('/settings');
  const keys = region('API keys');
  const more = keys.getByRole('button', { name: 'Show 101 revoked keys' });
  await more.waitFor();
  expect(await keys.getByRole('row', { name: /Old/ }).count()).toBe(0);
  const names = await keys.getByRole('row').getByRole('strong').allTextContents();
  expect(names.at(-1)).toBe('Shop <1>');
  expect(names.length).toBeGreaterThan(1);
  await more.click();
  expect(await keys.getByRole('row', { name: /Old.*revoked/ }).count()).toBe(101);
  await keys.getByRole('button', { name: 'Hide 101 revoked keys' }).click();
  await keys.getByRole('row', { name: /Old/ }).first().waitFor({ state: 'detached' });

  const createKey = async (name: string) => {
    await keys.getByLabel('Key name').fill(name);
    await keys.getByRole('button', { name: 'Create key' }).click();
  };
  await createKey('Second');
  await keys.getByText(/^vat_live_\w+$/).waitFor();
  await createKey('x'.repeat(65));
  await keys
    .getByRole('alert')
    .getByText(/^Key name .*64 characters/)
    .waitFor();
  await expectRefusals('/app/api/keys', 1);
  await createKey('  ');
  await keys.getByRole('alert').getByText('Key name is required.').waitFor();
  expect(await keys.getByText(/^vat_live_\w+$/).count()).toBe(1);
  // A row that is revoked on the open page keeps its position.
  await keys
    .getByRole('row', { name: /Second/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await keys
    .getByRole('row', { name: /Second/ })
    .getByText('revoked', { exact: true })
    .waitFor();
  await keys.getByText(/^vat_live_\w+$/).waitFor({ state: 'detached' });
  expect(await keys.getByRole('row').nth(1).textContent()).toContain('Second');
  expect(await page.getByRole('alert').count()).toBe(1);
});

test('keys created and revoked elsewhere appear on the open page', async () => {
  await visit.go('/settings');
  const keys = region('API keys');
  await keys.getByRole('row').nth(1).waitFor();
  const id = newUuid();
  await dashboard.world.sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     VALUES ($1::uuid, $2::uuid, 'Elsewhere', false, sha256($1::text::bytea), 'abcd', now())`,
    [id, uuidOf('account', account.account_id)],
  );
  const row = keys.getByRole('row', { name: /Elsewhere/ });
  await row.getByRole('button', { name: 'Revoke' }).waitFor();
  await dashboard.world.sql('UPDATE api_key SET revoked_at = now() WHERE id = $1', [id]);
  await row.getByText('revoked', { exact: true }).waitFor();
});

test('revoking by keyboard moves the focus to Undo, back to Revoke, and to the status', async () => {
  const { page } = visit;
  await visit.go('/settings');
  const keys = region('API keys');
  await keys.getByLabel('Key name').fill('Keyboard');
  await keys.getByRole('button', { name: 'Create key' }).click();
  const row = keys.getByRole('row', { name: /Keyboard/ });
  await row.getByRole('button', { name: 'Revoke' }).focus();
  await page.keyboard.press('Enter');
  await row.locator('button:focus', { hasText: 'Undo' }).waitFor();
  await page.keyboard.press('Enter');
  await row.locator('button:focus', { hasText: 'Revoke' }).waitFor();
  await page.keyboard.press('Enter');
  await row.locator('[aria-live=polite]:focus', { hasText: 'revoked' }).waitFor();
});

test('a key is revoked when the page is left right after Revoke', async () => {
  await visit.go('/settings');
  const keys = region('API keys');
  await keys.getByLabel('Key name').fill('Leaving');
  await keys.getByRole('button', { name: 'Create key' }).click();
  const key = String(await keys.getByText(/^vat_live_\w+$/).textContent());
  const usage = async () => (await dashboard.world.http(key).get('/v1/usage')).status;
  await keys
    .getByRole('row', { name: /Leaving/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  // Leaving the page does not undo the revocation.
  await visit.page.reload();
  await until('the key to be rejected', async () => (await usage()) === 401, 5_000);
  await keys.getByRole('row', { name: /Leaving.*revoked/ }).waitFor();
  expect(await visit.page.getByText(key).count()).toBe(0);
});

test('an invalid URL is rejected with its rule, and so is a test event without an endpoint', async () => {
  await visit.go('/settings');
  const webhook = region('Webhook');
  await webhook.getByRole('button', { name: 'Send test event' }).click();
  await webhook.getByRole('alert').getByText('No webhook is configured').waitFor();
  await webhook.getByRole('button', { name: 'Save' }).click();
  await webhook.getByRole('alert').getByText('Endpoint URL is required.').waitFor();
  await until('the earlier alert to go', async () => (await webhook.getByRole('alert').count()) === 1);
  for (const [url, rule] of [
    ['http://example.com/', /https/],
    ['https://10.0.0.1/', /public/],
    ['no url', /./],
  ] as const) {
    await webhook.getByLabel('Endpoint URL').fill(url);
    await webhook.getByRole('button', { name: 'Save' }).click();
    await webhook.getByRole('alert').getByText(rule).waitFor();
  }
  await expectRefusals('/app/api/webhook/test', 1);
  await expectRefusals('/app/api/webhook', 3);
});

test('the secret is shown once and signs the test event; the delivery shows attempt, body and signature', async () => {
  const receiver = await receivers.start();
  const secret = await saveWebhook(receiver.url);
  const webhook = region('Webhook');
  // A rejected URL leaves the configuration and the visible secret unchanged.
  await webhook.getByLabel('Endpoint URL').fill('http://example.com/');
  await webhook.getByRole('button', { name: 'Save' }).click();
  await webhook.getByRole('alert').getByText(/https/).waitFor();
  await webhook.getByText(secret, { exact: true }).waitFor();
  await expectRefusals('/app/api/webhook', 1);
  await webhook.getByRole('button', { name: 'Send test event' }).click();
  await webhook.getByRole('link', { name: 'View delivery' }).click();
  const { page } = visit;
  await page.getByRole('heading', { level: 1, name: 'webhook.test' }).waitFor();
  await region('Attempts').getByText('204', { exact: true }).waitFor();
  await page.getByText('successful', { exact: true }).waitFor();
  const arrival = await until('the test event', () => receiver.arrivals[0]);
  const signature = String(arrival.headers['x-service-signature']);
  const standard = String(arrival.headers['webhook-signature']);
  await page.getByLabel('Secret').fill(secret);
  await page.getByText(signature, { exact: true }).waitFor();
  await page.getByText(standard, { exact: true }).waitFor();
  await visit.go('/settings');
  await webhook.getByText(`${secret.slice(0, 8)}…`).waitFor();
  expect(await page.getByText(secret).count()).toBe(0);
});

test('a secret that another window or owner has replaced or removed is no longer shown', async () => {
  const receiver = await receivers.start();
  const other = await dashboard.visit();
  await other.enter(EMAIL);
  await other.go('/settings');
  const card = other.page.getByRole('region', { name: 'Webhook', exact: true });
  const secret = await saveWebhook(receiver.url);
  const shown = region('Webhook').getByText(secret, { exact: true });
  await shown.waitFor();
  await card.getByLabel('Endpoint URL').fill(receiver.url);
  await card.getByRole('button', { name: 'Save' }).click();
  await shown.waitFor({ state: 'detached' });
  const next = await saveWebhook(receiver.url);
  await card.getByRole('button', { name: 'Remove' }).click();
  await other.page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await region('Webhook').getByText(next, { exact: true }).waitFor({ state: 'detached' });
  expect(other.complaints()).toEqual([]);
  await other.close();
  await saveWebhook(receiver.url);
});

test('the field of the endpoint follows other windows after a save, and what is saved is shown beside what is typed', async () => {
  const [first, second] = await Promise.all([receivers.start(), receivers.start()]);
  const other = await dashboard.visit();
  await other.enter(EMAIL);
  await other.go('/settings');
  const card = other.page.getByRole('region', { name: 'Webhook', exact: true });
  const webhook = region('Webhook');
  const field = webhook.getByLabel('Endpoint URL');
  const untilField = (url: string) => until(`the field to be ${url}`, async () => (await field.inputValue()) === url);
  const saveElsewhere = async (url: string) => {
    await card.getByLabel('Endpoint URL').fill(url);
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText(/^whsec_[\w+/]{43}=$/).waitFor();
  };
  await saveWebhook(second.url);
  // The field shows the new endpoint at every moment, also before it has been read again.
  const values = await atEveryMoment(field);
  const save = webhook.getByRole('button', { name: 'Save' });
  await field.fill(first.url);
  await save.click();
  await webhook.locator('button[type=submit]:not([data-pending])').waitFor();
  await visit.page.waitForResponse((response) => response.url().endsWith('/app/api/settings'));
  await untilRendered(visit.page);
  expect(await values.jsonValue()).toEqual([second.url, first.url]);
  await saveElsewhere(second.url);
  await untilField(second.url);

  // Also after a save with Enter, which leaves the focus in the field.
  await field.fill(first.url);
  await field.press('Enter');
  await webhook.getByText(/^whsec_[\w+/]{43}=$/).waitFor();
  await field.blur();
  await saveElsewhere(second.url);
  await untilField(second.url);

  // What is typed stays.
  await field.fill('https://example.com/typed');
  await webhook.getByText(second.url, { exact: true }).waitFor();
  await saveElsewhere(first.url);
  await webhook.getByText(first.url, { exact: true }).waitFor();
  expect(await field.inputValue()).toBe('https://example.com/typed');
  await field.fill(first.url);
  await save.click();
  await webhook.getByText(/^whsec_[\w+/]{43}=$/).waitFor();
  await card.getByRole('button', { name: 'Remove' }).click();
  await other.page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await untilField('');
  expect(other.complaints()).toEqual([]);
  await other.close();
  await saveWebhook(first.url);
});

test('a failing delivery shows each attempt as it happens, and Resend sends the same event again', async () => {
  const receiver = await receivers.start(withStatus(500));
  await saveWebhook(receiver.url);
  const { page } = visit;
  await visit.go('/deliveries');
  await page.getByRole('button', { name: 'Send test event' }).click();
  const attempts = region('Attempts');
  await attempts.getByText('500', { exact: true }).first().waitFor();
  await until(
    'the second attempt on the page',
    async () => (await attempts.getByText('500', { exact: true }).count()) === 2,
  );
  const first = page.url();
  receiver.answer(withStatus(204));
  await page.getByRole('button', { name: 'Resend' }).click();
  await attempts.getByText('204', { exact: true }).waitFor();
  expect(page.url()).not.toBe(first);
  const [one, , again] = await until('three arrivals', () => receiver.arrivals.length === 3 && receiver.arrivals);
  expect([again?.body, again?.headers['webhook-id']]).toEqual([one?.body, one?.headers['webhook-id']]);
});

test('the list of deliveries is filtered, and Resend failed sends the failed events of the period again', async () => {
  const receiver = await receivers.start(withStatus(500));
  await saveWebhook(receiver.url);
  const { page } = visit;
  await visit.go('/deliveries');
  await page.getByRole('button', { name: 'Send test event' }).click();
  await region('Attempts').getByText('500', { exact: true }).first().waitFor();
  const [sent] = await until('the first attempt', () => receiver.arrivals.length > 0 && receiver.arrivals);
  await dashboard.world.sql(
    `UPDATE delivery SET state = 'failed', next_attempt_at = NULL WHERE event_id = $1 AND state = 'pending'`,
    [uuidOf('event', String(sent?.headers['webhook-id']))],
  );
  receiver.answer(withStatus(204));
  const before = receiver.arrivals.length;
  await visit.go('/');
  await page
    .getByRole('listitem')
    .filter({ hasText: /failed deliver(y|ies)/ })
    .getByRole('link')
    .click();
  await page.getByText('To send failed events again').waitFor();
  // The list is of the same period as the number.
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('status')).toBe('failed');
  const sinceMs = Date.now() - Date.parse(String(searchParams.get('from')));
  expect(Math.abs(sinceMs - 7 * 86_400_000)).toBeLessThan(180_000);
  await page
    .getByRole('row', { name: /webhook\.test/ })
    .first()
    .waitFor();
  expect(await page.getByLabel('From (UTC)').inputValue()).not.toBe('');
  await visit.go('/deliveries');
  const links = page.getByRole('table', { name: 'Deliveries' }).getByRole('link');
  const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);
  await page.getByLabel('From (UTC)').fill(day(-86_400_000));
  await page.getByLabel('Status', { exact: true }).selectOption('failed');
  await until('the failed delivery', async () => page.url().includes('status=failed') && (await links.count()) > 0);
  // What was typed before the choice applies as well.
  expect(new URL(page.url()).searchParams.get('from')).toBe(day(-86_400_000));
  await page.getByLabel('Before (UTC)').fill(day(86_400_000));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('button', { name: 'Resend failed' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Resend failed' }).click();
  await page.getByText(/Events sent again: [1-9]/).waitFor();
  await until('the event', () =>
    receiver.arrivals.slice(before).some(({ headers }) => headers['webhook-id'] === sent?.headers['webhook-id']),
  );

  // The result is not shown under other filters, and the question names the event that they choose.
  await page.getByLabel('Event', { exact: true }).selectOption('webhook.test');
  await page.getByText(/Events sent again/).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Resend failed' }).click();
  await page.getByRole('alertdialog').getByText('Every webhook.test event whose delivery failed').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
});

test('a double click counts once, on forms and other buttons, and separate clicks count twice', async () => {
  const receiver = await receivers.start();
  const { page } = visit;
  const sent: string[] = [];
  page.on('request', (request) => {
    if (/^(PUT|POST)$/.test(request.method())) sent.push(new URL(request.url()).pathname.replace(/dlv_\w+/, ':id'));
  });
  await visit.go('/settings');
  const keys = region('API keys');
  await keys.getByLabel('Key name').fill('Twice');
  await keys.getByRole('button', { name: 'Create key' }).dblclick();
  await keys.getByText(/^vat_live_\w+$/).waitFor();
  // Enter does not submit a pending form again.
  const answer = await holdRequests(page, '**/app/api/keys', 'POST');
  await keys.getByLabel('Key name').fill('By Enter');
  await keys.getByLabel('Key name').press('Enter');
  await keys.locator('[data-pending]').waitFor();
  await keys.getByLabel('Key name').press('Enter');
  answer();
  await keys.locator('[data-pending]').waitFor({ state: 'detached' });
  await page.unroute('**/app/api/keys');
  const webhook = region('Webhook');
  await webhook.getByLabel('Endpoint URL').fill(receiver.url);
  const save = webhook.getByRole('button', { name: 'Save' });
  const secret = webhook.getByText(/^whsec_[\w+/]{43}=$/);
  // A press is pending, and ignores others, for at least 300 ms.
  const apart = async () => {
    const since = performance.now();
    await until('the next press to count', () => performance.now() - since > 300);
  };
  await save.dblclick();
  const first = await secret.textContent();
  await apart();
  await save.click();
  await until('another secret', async () => (await secret.textContent()) !== first);
  await webhook.getByRole('button', { name: 'Send test event' }).dblclick();
  await webhook.getByRole('link', { name: 'View delivery' }).click();
  const attempts = region('Attempts');
  await attempts.getByText('204', { exact: true }).waitFor();
  const resend = page.getByRole('button', { name: 'Resend' });
  const before = page.url();
  await resend.dblclick();
  await page.waitForURL((url) => url.href !== before);
  // A key press after a double click counts.
  const between = page.url();
  await apart();
  await resend.press('Enter');
  await page.waitForURL((url) => url.href !== between);
  const resent = '/app/api/webhook/deliveries/:id/resend';
  expect(sent).toEqual([
    '/app/api/keys',
    '/app/api/keys',
    '/app/api/webhook',
    '/app/api/webhook',
    '/app/api/webhook/test',
    resent,
    resent,
  ]);
  await attempts.getByText('204', { exact: true }).waitFor();
});

test('a test event is sent once while the page of its delivery loads', async () => {
  const receiver = await receivers.start();
  await saveWebhook(receiver.url);
  const { page } = visit;
  const load = await holdRequests(page, /delivery-page/);
  await visit.go('/deliveries');
  let sent = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/webhook/test')) sent += 1;
  });
  const send = page.getByRole('button', { name: 'Send test event' });
  const [loading, responded] = [page.waitForRequest(/delivery-page/), page.waitForResponse(/webhook\/test$/)];
  await send.click();
  await Promise.all([loading, responded]);
  await untilRendered(page);
  await send.evaluate((button: { click: () => void }) => button.click());
  load();
  await page.getByRole('heading', { level: 1, name: 'webhook.test' }).waitFor();
  expect(sent).toBe(1);
  await page.unroute(/delivery-page/);
});

test('an endpoint that loads late does not change a field with input or focus', async () => {
  const { page } = visit;
  const field = region('Webhook').getByLabel('Endpoint URL');
  const openAndLoadAfter = async (edit: () => Promise<void>) => {
    const answer = await holdRequests(page, '**/app/api/settings');
    await visit.go('/settings');
    await edit();
    answer();
    await region('Webhook')
      .getByText(/^whsec_.+…$/)
      .waitFor();
    await page.unroute('**/app/api/settings');
  };
  await openAndLoadAfter(() => field.fill('https://example.com/typed'));
  expect(await field.inputValue()).toBe('https://example.com/typed');

  await openAndLoadAfter(() => field.focus());
  await page.keyboard.insertText('https://example.com/pasted');
  expect(await field.inputValue()).toBe('https://example.com/pasted');

  await openAndLoadAfter(() => field.focus());
  await field.blur();
  expect(await field.inputValue()).toMatch(/^https:\/\/127\.0\.0\.1/);
});

test('Save is shown once the keys above it have loaded, so that it does not move under the pointer', async () => {
  const { page } = visit;
  const keys = /\/app\/api\/keys\?/;
  const answer = await holdRequests(page, keys);
  // From another page: from this one, the browser would not load it again.
  await visit.go('/deliveries');
  await visit.go('/settings#webhook');
  await region('API keys').getByText('Loading…').waitFor();
  const save = region('Webhook').getByRole('button', { name: 'Save' });
  expect(await save.count()).toBe(0);
  answer();
  await save.waitFor();
  expect(await region('API keys').getByRole('row').count()).toBeGreaterThan(1);
  // A link to the card leads there although it appears late.
  await until('the card at the top', async () => Number((await region('Webhook').boundingBox())?.y) < 200);
  await page.unroute(keys);
});

test('an endpoint is removed after confirmation, and its deliveries stay', async () => {
  await visit.go('/settings');
  const webhook = region('Webhook');
  await webhook.getByRole('button', { name: 'Remove' }).click();
  await visit.page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await webhook.getByRole('button', { name: 'Remove' }).click();
  await visit.page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await webhook.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' });
  await visit.go('/deliveries');
  await visit.page
    .getByRole('row', { name: /webhook\.test.*successful/ })
    .first()
    .waitFor();
});

/** Something to wait for. */
const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test('each kind of e-mail is turned on and off, saved at once, and shown after a reload', async () => {
  const { page } = visit;
  const kinds = async () => {
    const [user] = await dashboard.world.sql<{ kinds: string[] }>(
      'SELECT mail_kinds AS kinds FROM app_user WHERE email = $1',
      [EMAIL],
    );
    return user?.kinds.toSorted();
  };
  await visit.go('/settings');
  const card = region('Notifications');
  await card.getByText('This service sends no e-mail: its operator has not configured a mail server.').waitFor();
  await card.getByText(`By e-mail to ${EMAIL}, at most one an hour of each kind.`).waitFor();
  const box = (name: string) => card.getByRole('checkbox', { name, exact: true });
  const shown = () =>
    Promise.all(
      ['Failed deliveries', 'Quota', 'Completed batches', 'Changes of watches'].map((name) => box(name).isChecked()),
    );
  expect(await shown()).toEqual([true, true, false, false]);
  await card.getByText('Quota', { exact: true }).click();
  await box('Changes of watches').focus();
  await page.keyboard.press('Space');
  expect(await shown()).toEqual([true, false, false, true]);
  await until('both to be saved', async () => (await kinds())?.join() === 'failed_deliveries,watch_changes');
  await page.reload();
  await box('Quota').waitFor();
  expect(await shown()).toEqual([true, false, false, true]);

  // The answer to the first of two changes comes after that to the second one, and the query is not repeated meanwhile.
  const notifications = '**/app/api/notifications';
  const [first, query] = [gate(), gate()];
  let queried = 0;
  await page.route(notifications, async (route) => {
    if (route.request().method() === 'GET') {
      queried += 1;
      await query.opened;
      // The page may have cancelled it.
      return route.continue().catch(() => undefined);
    }
    const response = await route.fetch();
    if (route.request().postData()?.includes('quota')) await first.opened;
    return route.fulfill({ response });
  });
  await card.getByText('Quota', { exact: true }).click();
  await until('the first to be saved', async () => (await kinds())?.includes('quota'));
  await card.getByText('Completed batches', { exact: true }).click();
  await until('the second to be shown as saved', () => queried > 0);
  const before = queried;
  first.open();
  await until('the first to be shown as saved', () => queried > before);
  expect(await shown()).toEqual([true, true, true, true]);
  query.open();
  await page.unrouteAll({ behavior: 'wait' });

  const hint = String(await box('Quota').getAttribute('aria-describedby'));
  expect(await page.locator(`[id="${hint}"]`).textContent()).toBe('80% and 100% of the checks of the month are used.');
});
