import { uuidOf } from '@vat/domain';
import { type TestAccount, until } from '@vat/testkit';
import type { Route } from 'playwright-core';
import {
  atEveryMoment,
  type Dashboard,
  holdRequests,
  NARROW,
  openDashboard,
  PASSWORD,
  untilRendered,
  type Visit,
  WIDE,
} from './testing/open-dashboard.fixture.js';
import { saveScreenshot } from './testing/save-screenshot.fixture.js';
import { seriousFindings } from './testing/serious-findings.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
beforeAll(async () => {
  dashboard = await openDashboard({ settings: { SIGNUP: 'open' } });
  await dashboard.account(EMAIL, { name: 'Owner & Söhne' });
});
afterAll(() => dashboard?.close());
afterEach(async () => {
  expect(visit.complaints()).toEqual([]);
  await visit.close();
});

const signInHere = async ({ page }: Visit, password = PASSWORD) => {
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};
/**
 * Opens a page and waits until it has read its session twice. A page reads everything again when it begins to receive updates, and
 * would then find by itself what has changed.
 */
const openAndReadTwice = async (address: string) => {
  let reads = 0;
  const isSecondRead = (url: string) => {
    if (url.endsWith('/app/api/config')) reads += 1;
    return reads === 2;
  };
  await Promise.all([visit.page.waitForResponse((response) => isSecondRead(response.url())), visit.go(address)]);
};
const heading = ({ page }: Visit, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('visitors sign in and continue to the requested page with its filters', async () => {
  visit = await dashboard.visit();
  await visit.go('/checks?valid=true');
  await heading(visit, 'Sign in');
  await signInHere(visit);
  await heading(visit, 'Checks');
  expect(new URL(visit.page.url()).pathname).toBe('/app/checks');
  expect(await visit.page.getByLabel('Validity').inputValue()).toBe('true');
});

test('a wrong password shows a remedy, and the correct one works after it', async () => {
  visit = await dashboard.visit({ refused: /\/session$/ });
  await visit.go('/sign-in');
  await signInHere(visit, 'wrong');
  const alert = visit.page.getByRole('alert');
  expect(await alert.textContent()).toContain('Check your e-mail and password for typos');
  await signInHere(visit);
  await heading(visit, 'Overview');
});

test('missing input is reported beside its field, one alert at a time', async () => {
  visit = await dashboard.visit({ refused: /\/session$/ });
  const { page } = visit;
  const alert = page.getByRole('alert');
  const button = page.getByRole('button', { name: 'Sign in' });
  await visit.go('/sign-in');
  await button.click();
  await alert.getByText('E-mail is required.').waitFor();
  expect(await page.evaluate('document.activeElement.name')).toBe('email');
  await page.getByLabel('E-mail').fill('nobody');
  await button.click();
  await alert.getByText('E-mail is not a valid e-mail address.').waitFor();
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('E-mail').press('Enter');
  await alert.getByText('Password is required.').waitFor();
  expect(await alert.count()).toBe(1);
  expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
  expect(await seriousFindings(page)).toEqual([]);
  await signInHere(visit, 'wrong');
  await alert.getByText('Check your e-mail and password for typos').waitFor();
  expect(await alert.count()).toBe(1);
  await page.getByLabel('Password').fill('');
  await button.click();
  await alert.getByText('Password is required.').waitFor();
  await until('the answer to the earlier attempt to go', async () => (await alert.count()) === 1);
});

test('sign-in does not redirect to other sites', async () => {
  visit = await dashboard.visit();
  await visit.go('/sign-in?next=//evil.example/app');
  await signInHere(visit);
  await heading(visit, 'Overview');
});

test('signing out ends the session on the server and redirects other windows to sign in', async () => {
  visit = await dashboard.visit({ refused: /\/app\/api\// });
  await visit.signIn(EMAIL);
  const other = await visit.page.context().newPage();
  await other.goto('/app/settings');
  await other.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await visit.page.getByRole('button', { name: 'Sign out' }).click();
  await heading(visit, 'Sign in');
  await other.waitForURL(/\/app\/sign-in/);
  expect(await other.getByRole('dialog').count()).toBe(0);
  await visit.go('/settings');
  await heading(visit, 'Sign in');
});

test('a session that ends while a form is filled in asks to sign in again, and the form is sent after it', async () => {
  const email = 'typist@example.com';
  const [typist, other] = await Promise.all(
    [email, 'colleague@example.com'].map((address) => dashboard.account(address, { name: `Account of ${address}` })),
  );
  visit = await dashboard.visit({ refused: /\/app\/api\// });
  await visit.signIn(email);
  const { page } = visit;
  const dialog = page.getByRole('dialog');
  const rowsOf = async (account: TestAccount | undefined, path: string) =>
    (await dashboard.world.http(String(account?.live_key)).get(path)).body.data.length;
  await openAndReadTwice('/checks/new');
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByLabel('Reference').fill('order-9');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await heading(visit, 'Sign in');
  expect(await dialog.getByLabel('E-mail').inputValue()).toBe(email);
  expect(await seriousFindings(page)).toEqual([]);
  for (const [name, viewport] of Object.entries({ narrow: NARROW, wide: WIDE })) {
    await page.setViewportSize(viewport);
    await saveScreenshot(page, `${name}-sign-in-again`);
  }
  await dialog.getByLabel('Password').fill('wrong');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.getByRole('alert').getByText('Check your e-mail and password for typos').waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Outcome' }).getByText('valid', { exact: true }).waitFor();
  expect([await page.getByLabel('Reference').inputValue(), await rowsOf(typist, '/v1/checks')]).toEqual(['order-9', 1]);

  // Another user gets an empty form.
  await openAndReadTwice('/watches');
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Add watch' }).click();
  await dialog.getByLabel('E-mail').fill('colleague@example.com');
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByText('Account of colleague@example.com').waitFor();
  expect(await page.getByLabel('VAT number').inputValue()).toBe('');
  expect([await rowsOf(typist, '/v1/watches'), await rowsOf(other, '/v1/watches')]).toEqual([0, 0]);
});

test('what a page was loading is shown after a sign-out that failed', async () => {
  visit = await dashboard.visit({ refused: /\/session$/ });
  await visit.signIn(EMAIL);
  const { page } = visit;
  let isHeld = true;
  await page.route('**/app/api/usage', (route) => (isHeld ? undefined : route.continue()));
  await page.route('**/app/api/session', (route) => route.fulfill({ status: 500, json: {} }));
  await Promise.all([page.waitForRequest('**/app/api/usage'), page.reload()]);
  await page.getByRole('heading', { name: 'Latest changes' }).waitFor();
  await page.getByRole('link', { name: 'View watched numbers' }).waitFor();
  isHeld = false;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByText('checks used').waitFor();
});

test('what a window shows of one account is gone when another window has signed in to another', async () => {
  const [one, two] = ['one@example.com', 'two@example.com'];
  const accounts = await Promise.all(
    [one, two].map((email) => dashboard.account(email, { name: `Account of ${email}` })),
  );
  visit = await dashboard.visit({ refused: /\/app\/api\// });
  await visit.signIn(one);
  const { page } = visit;
  await visit.go('/settings');
  const rowOf = (account: number) =>
    page.getByRole('row', { name: new RegExp(String(accounts[account]?.live_key.slice(-4))) });
  await rowOf(0).waitFor();
  await page.getByLabel('Key name').fill('Shop');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = page.getByText(/^vat_live_\w+$/);
  await key.waitFor();
  const answer = await holdRequests(page, /app\/api\/keys\?/);
  // As joining by an invitation does, this replaces the session without signing out first.
  const other = await page.context().newPage();
  await visit.enter(two);
  await other.goto('/app/sign-in');
  await other.evaluate("new BroadcastChannel('vat-session').postMessage('changed')");
  await page.getByRole('banner').getByText(`Account of ${two}`).waitFor();
  expect(await Promise.all([rowOf(0).count(), key.count()])).toEqual([0, 0]);
  answer();
  await rowOf(1).waitFor();

  // And the same after signing out.
  await other.getByRole('button', { name: 'Sign out' }).click();
  await heading(visit, 'Sign in');
  await page.unroute(/app\/api\/keys\?/);
  const answerAgain = await holdRequests(page, /app\/api\/keys\?/);
  await other.getByLabel('E-mail').fill(one);
  await other.getByLabel('Password').fill(PASSWORD);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').getByText(`Account of ${one}`).waitFor();
  await page.getByRole('region', { name: 'API keys' }).getByText('Loading…').waitFor();
  expect(await rowOf(1).count()).toBe(0);
  answerAgain();
  await rowOf(0).waitFor();
});

test('a key revoked right before signing out is rejected', async () => {
  const email = 'leaver@example.com';
  const { live_key } = await dashboard.account(email);
  // The page polls its keys, also in the moment in which the session ends.
  visit = await dashboard.visit({ refused: /\/api\/keys/ });
  await visit.signIn(email);
  await visit.go('/settings');
  await visit.page
    .getByRole('row', { name: new RegExp(live_key.slice(-4)) })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await visit.page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await heading(visit, 'Sign in');
  const usage = async () => (await dashboard.world.http(live_key).get('/v1/usage')).status;
  await until('the key to be rejected', async () => (await usage()) === 401, 5_000);
});

test('all controls are reachable by keyboard and show focus', async () => {
  visit = await dashboard.visit();
  await visit.signIn(EMAIL);
  const { page } = visit;
  const focused = () =>
    page.evaluate(`(() => { const { innerText, ariaLabel, tagName } = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return { name: ariaLabel || innerText || tagName, isShown: outlineStyle !== 'none' && outlineWidth !== '0px' }; })()`) as Promise<{
      name: string;
      isShown: boolean;
    }>;
  await page.reload();
  await heading(visit, 'Overview');
  const seen: string[] = [];
  for (let presses = 0; presses < 11; presses += 1) {
    await page.keyboard.press('Tab');
    const { name, isShown } = await focused();
    expect([name, isShown]).toEqual([name, true]);
    seen.push(name);
  }
  const links = ['Overview', 'Checks', 'Batches', 'Coverage', 'Watches', 'Evidence', 'Deliveries', 'Settings'];
  expect(seen).toEqual(['Skip to content', ...links, 'Sign out', 'New check']);
  await page.keyboard.press('Enter');
  await heading(visit, 'New check');
});

test('sign-up shows both keys once, and the first steps are ticked when done', async () => {
  visit = await dashboard.visit();
  const { page } = visit;
  await visit.go('/sign-in');
  await page.getByRole('link', { name: 'Sign up' }).click();
  await heading(visit, 'Sign up');
  await page.getByLabel('Name').fill('New & Söhne');
  await page.getByLabel('E-mail').fill('new@example.com');
  await page.getByLabel('Password').fill('a few long words');
  await page.getByRole('button', { name: 'Create account' }).click();
  await heading(visit, 'Welcome');
  const live = String(await page.getByText(/^vat_live_\w+$/).textContent());
  const test = String(await page.getByText(/^vat_test_\w+$/).textContent());
  for (const key of [live, test]) expect((await dashboard.world.http(key).get('/v1/usage')).body.plan).toBe('free');

  const done = page.getByRole('listitem').filter({ hasText: '(done)' });
  expect(await done.count()).toBe(0);
  await page.getByRole('link', { name: 'Start' }).click();
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('link', { name: 'View check' }).waitFor();
  // No step is shown as open before it is known whether it is done, neither by old data nor without any.
  const steps = page.getByRole('region', { name: 'First steps' });
  const held: Route[] = [];
  await page.route(/limit=1$/, (route) => void held.push(route));
  const answer = () => Promise.all(held.splice(0).map((route) => route.continue()));
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByText('checks used').waitFor();
  await until('the page to ask for the newest check', () => held.length > 0);
  expect(await steps.count()).toBe(0);
  await answer();
  await visit.go('/welcome');
  await until('the page to ask for the newest check and delivery', () => held.length > 1);
  expect([await steps.count(), await steps.getByRole('listitem').count()]).toEqual([1, 0]);
  await answer();
  await page.unroute(/limit=1$/);
  await done.filter({ hasText: 'Make your first check' }).waitFor();
  expect(await page.getByText(/vat_(live|test)_/).count()).toBe(0);
});

test('sign-up reports a short password and an e-mail address that is already in use', async () => {
  visit = await dashboard.visit({ refused: /\/sign-up$/ });
  const { page } = visit;
  await visit.go('/sign-up');
  await page.getByLabel('Name').fill('Again');
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password').fill('too short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('alert').getByText('Password must have at least 12 characters.').waitFor();
  await page.getByLabel('Password').fill('a few long words');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('alert').getByText('There is an account with this e-mail address.').waitFor();
});

test('changing the password requires the current one, keeps this session and ends the others', async () => {
  visit = await dashboard.visit({ refused: /\/password$/ });
  const other = await dashboard.visit({ refused: /\/app\/api\// });
  await Promise.all([visit.enter(EMAIL), other.enter(EMAIL)]);
  const { page } = visit;
  const change = async (current: string, newPassword: string) => {
    await page.getByLabel('Current password').fill(current);
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    await page.getByLabel('Confirm new password').fill(newPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
  };
  const window = await page.context().newPage();
  await window.goto('/app/settings');
  await window.getByLabel('Key name').fill('Other window');
  await visit.go('/settings');
  await change('not the current one', 'a few other words');
  await page.getByRole('alert').waitFor();
  await change(PASSWORD, 'a few other words');
  await page.getByText('Password changed.').waitFor();
  await other.go('/checks');
  await other.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await other.close();

  // The session continues with a new CSRF token.
  await page.getByLabel('Key name').fill('After');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText(/^vat_live_\w+$/).waitFor();
  await window.getByRole('button', { name: 'Create key' }).click();
  await window.getByText(/^vat_live_\w+$/).waitFor();
  await page.getByRole('button', { name: 'End all sessions' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End all sessions' }).click();
  await heading(visit, 'Sign in');
});

/** What an auditor must not find on any page. */
const CHANGES =
  /^(New check|Check|Create key|Save|Send test event|Upload|Add watch|Apply|Pause|Delete|Revoke|Invite|Remove|Resend|Make your first check|Set up your webhook)$/;

test('an owner invites an auditor by a link, who joins, reads every page, and is made a member and removed', async () => {
  const [owner, email] = ['team@example.com', 'auditor@example.com'];
  await dashboard.account(owner, { name: 'Müller & Söhne' });
  visit = await dashboard.visit();
  await visit.enter(owner);
  await visit.go('/settings');
  const { page } = visit;
  const members = page.getByRole('region', { name: 'Members', exact: true });
  await members.getByLabel('E-mail').fill(email);
  await members.getByLabel('Role', { exact: true }).selectOption('auditor');
  await members.getByRole('button', { name: 'Invite' }).click();
  const link = String(await members.getByText(/\/app\/invitation#[\w-]{24}$/).textContent());
  const pending = members.getByRole('table', { name: 'Pending invitations' });
  await pending.getByText(email).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  const invited = await dashboard.visit({ refused: /\/app\/api\// });
  // A link that is opened in the window of an expired one changes only the fragment of its address.
  await invited.page.goto(link.replace(/#.*/, `#${'A'.repeat(24)}`));
  await invited.page.getByRole('alert').filter({ hasText: 'has expired' }).waitFor();
  await invited.page.goto(link);
  await heading(invited, 'Invitation');
  await invited.page.getByText('Müller & Söhne').waitFor();
  expect(await invited.page.getByLabel('E-mail').inputValue()).toBe(email);
  expect(await seriousFindings(invited.page)).toEqual([]);
  await invited.page.getByLabel('Password').fill('a few words are good');
  await invited.page.getByRole('button', { name: 'Join' }).click();
  await heading(invited, 'Overview');
  expect(new URL(invited.page.url()).hash).toBe('');
  for (const name of ['Overview', 'Checks', 'Batches', 'Coverage', 'Watches', 'Evidence', 'Deliveries', 'Settings']) {
    await invited.page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await heading(invited, name);
    await invited.page.getByText('Loading…').first().waitFor({ state: 'detached' });
    for (const role of ['button', 'link'] as const)
      expect([name, await invited.page.getByRole(role, { name: CHANGES }).count()]).toEqual([name, 0]);
  }
  await invited.page.getByRole('button', { name: 'Change password' }).waitFor();

  await pending.waitFor({ state: 'detached' });
  await members.getByText(link).waitFor({ state: 'detached' });
  await members.getByLabel('E-mail').fill('other@example.com');
  await members.getByRole('button', { name: 'Invite' }).click();
  await pending.getByText('other@example.com').waitFor();
  await saveScreenshot(page, 'wide-members');
  await page.setViewportSize(NARROW);
  await saveScreenshot(page, 'narrow-members');
  await page.setViewportSize(WIDE);
  // A revoked invitation cannot be revoked again while its row is still shown.
  let revocations = 0;
  page.on('request', (request) => {
    if (request.method() === 'DELETE' && request.url().includes('/invitations/')) revocations += 1;
  });
  await atEveryMoment(pending.getByRole('button', { name: 'Revoke' }), 'click');
  await pending.waitFor({ state: 'detached' });
  expect(revocations).toBe(1);
  const row = members.getByRole('row', { name: new RegExp(email) });
  // The open page of the member follows the role without a reload.
  await invited.page.getByRole('navigation').getByRole('link', { name: 'Checks', exact: true }).click();
  await heading(invited, 'Checks');
  const newCheck = invited.page.getByRole('link', { name: 'New check' });
  // The select shows the new role at every moment, also before the list has been read again.
  const role = row.getByLabel(`Role of ${email}`);
  const shown = await atEveryMoment(role);
  await role.selectOption('member');
  await newCheck.waitFor();
  // The list is read again after the call, which is pending for 300 ms, and every few seconds.
  await page.waitForResponse((response) => response.url().endsWith('/app/api/members'));
  await untilRendered(page);
  expect(await shown.jsonValue()).toEqual(['auditor', 'member']);
  await role.selectOption('auditor');
  await newCheck.waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  // The button that had the focus is gone. Keyboard users are still at the members.
  await page.locator('section:focus', { has: page.getByRole('heading', { name: 'Members' }) }).waitFor();
  await heading(invited, 'Sign in');
  await invited.page.goto(link);
  await invited.page.getByRole('alert').filter({ hasText: 'was accepted or revoked' }).waitFor();
  expect(invited.complaints()).toEqual([]);
  await invited.close();
});

test('an open invitation says what is true when it was revoked, and of an address that has an account', async () => {
  const owner = await dashboard.account('inviting@example.com', { name: 'Müller & Söhne' });
  await dashboard.account('elsewhere@example.com');
  visit = await dashboard.visit({ refused: /\/invitation/ });
  await visit.enter('inviting@example.com');
  const { page } = visit;
  await visit.go('/settings');
  const members = page.getByRole('region', { name: 'Members', exact: true });
  await members.getByRole('button', { name: 'Invite' }).click();
  const link = String(await members.getByText(/\/app\/invitation#[\w-]{24}$/).textContent());
  const invited = await dashboard.visit({ refused: /\/invitation/ });
  await invited.page.goto(link);
  const alert = invited.page.getByRole('alert');
  const join = async (email: string) => {
    await invited.page.getByLabel('E-mail').fill(email);
    await invited.page.getByLabel('Password').fill('a few words are good');
    await invited.page.getByRole('button', { name: 'Join' }).click();
  };
  await join('elsewhere@example.com');
  await alert.getByText(/cannot join Müller & Söhne\. Join with another address\.$/).waitFor();
  expect(await alert.getByText('sign in').count()).toBe(0);
  await dashboard.world.sql('DELETE FROM invitation WHERE account_id = $1::uuid', [
    uuidOf('account', owner.account_id),
  ]);
  await join('new@example.com');
  await alert.getByText('This invitation was accepted or revoked, or has expired.').waitFor();
  expect(await invited.page.getByText('This link works once').count()).toBe(0);
  expect([visit.complaints(), invited.complaints()]).toEqual([[], []]);
  await invited.close();
});

describe('what an operator changes of an account', () => {
  const email = 'operated@example.com';
  let operated: TestAccount;
  const admin = (...words: string[]) => dashboard.world.admin('account', ...words);
  beforeAll(async () => {
    operated = await dashboard.account(email, { plan: 'free' });
  });
  beforeEach(async () => {
    await admin('enable', operated.account_id);
    visit = await dashboard.visit({ refused: /\/app\/api\// });
    await visit.enter(email);
  });
  const banner = () => visit.page.getByText('This account is disabled.');
  const plan = () => visit.page.getByRole('region', { name: 'Plan' });

  test('is shown within a minute on an open page', async () => {
    const { page } = visit;
    await page.clock.install();
    await visit.go('/settings');
    await plan().getByText('free', { exact: true }).waitFor();
    await Promise.all([admin('disable', operated.account_id), admin('set-plan', operated.account_id, 'starter')]);
    await page.clock.runFor(61_000);
    await Promise.all([banner().waitFor(), plan().getByText('starter', { exact: true }).waitFor()]);
    await admin('enable', operated.account_id);
    await page.clock.runFor(61_000);
    await banner().waitFor({ state: 'detached' });
  });

  test('is shown at once when a call is refused for it', async () => {
    const { page } = visit;
    await openAndReadTwice('/checks/new');
    await page.getByLabel('VAT number').fill('FR40303265045');
    await admin('disable', operated.account_id);
    expect(await banner().count()).toBe(0);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await banner().waitFor();
  });

  test('or a session that has ended is found without losing what was typed', async () => {
    const { page } = visit;
    await page.clock.install();
    await openAndReadTwice('/checks/new');
    const number = page.getByLabel('VAT number');
    await number.fill('FR40303265045');
    await page.context().clearCookies();
    await page.clock.runFor(61_000);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await number.inputValue()).toBe('FR40303265045');
  });
});

test('the overview says that there is no check only to accounts without any', async () => {
  const account = await dashboard.account('tester@example.com');
  visit = await dashboard.visit();
  await visit.signIn('tester@example.com');
  const chart = visit.page.getByRole('region', { name: 'Checks per day' });
  await chart.getByText('No checks yet').waitFor();
  await dashboard.world.http(account.test_key).post('/v1/checks', { vat_number: 'DE100' });
  await chart.getByText('No live checks in the last 30 days').waitFor();
  expect(await visit.page.getByText('No checks yet').count()).toBe(0);
});

test('the overview updates while it is open', async () => {
  const account = await dashboard.account('busy@example.com');
  visit = await dashboard.visit({ refused: /\/usage$/ });
  await visit.signIn('busy@example.com');
  const { page } = visit;
  await page.getByText('First steps').waitFor();
  await page.getByText('0 of 20,000 checks used').waitFor();
  const check = async () =>
    void (await dashboard.world.http(account.live_key).post('/v1/checks', { vat_number: 'FR40303265045' }));
  await check();
  await page.getByText('1 of 20,000 checks used').waitFor();
  await page.getByText('1 valid · 0 invalid · 0 malformed').waitFor();
  await page.getByText('First steps').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Show as table' }).click();
  // A worker writes its statistics every five seconds; the page polls every four.
  await page.getByRole('row', { name: /FR France ok/ }).waitFor({ timeout: 20_000 });

  // A failed refetch shows an error beside the last data.
  await page.route('**/app/api/usage', (route) => route.fulfill({ status: 418, body: 'a proxy' }));
  await check();
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('1 of 20,000 checks used').count()).toBe(1);
  // A check that took longer than 300 ms causes another refetch, which would remove the button.
  const answer = await holdRequests(page, '**/app/api/usage');
  await page.getByRole('button', { name: 'Try again' }).click();
  answer();
  await page.getByText('2 of 20,000 checks used').waitFor();
  await page.unroute('**/app/api/usage');
  await page.getByRole('alert').waitFor({ state: 'detached' });
});
