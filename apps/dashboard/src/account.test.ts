import { type Dashboard, openDashboard, PASSWORD, type Visit } from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
beforeAll(async () => {
  dashboard = await openDashboard({ settings: { SIGNUP: 'open' } });
  await dashboard.account(EMAIL);
}, 120_000);
afterAll(() => dashboard?.close());
afterEach(async () => {
  expect(visit.complaints()).toEqual([]);
  await visit.close();
});

const heading = (name: string) => visit.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('whoever signs up gets both keys once, is led through the first steps, and sees them ticked', async () => {
  visit = await dashboard.visit();
  const { page } = visit;
  await visit.go('/sign-in');
  await page.getByRole('link', { name: 'Open one' }).click();
  await heading('Sign up');
  await page.getByLabel('Name').fill('New & Söhne');
  await page.getByLabel('E-mail').fill('new@example.com');
  await page.getByLabel('Password').fill('a few long words');
  await page.getByRole('button', { name: 'Open the account' }).click();
  await heading('Welcome');
  const live = String(await page.getByText(/^vat_live_\w+$/).textContent());
  const test = String(await page.getByText(/^vat_test_\w+$/).textContent());
  for (const key of [live, test]) expect((await dashboard.world.http(key).get('/v1/usage')).body.plan).toBe('free');

  const done = page.getByRole('listitem').filter({ hasText: '(done)' });
  expect(await done.count()).toBe(0);
  await page.getByRole('link', { name: 'Start' }).click();
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('link', { name: 'Open it' }).waitFor();
  await visit.go('/welcome');
  await done.filter({ hasText: 'Make a first check' }).waitFor();
  expect(await page.getByText(/vat_(live|test)_/).count()).toBe(0);
});

test('an address that has an account is told so, and a short password what is wrong with it', async () => {
  visit = await dashboard.visit({ refused: /\/sign-up$/ });
  const { page } = visit;
  await visit.go('/sign-up');
  await page.getByLabel('Name').fill('Again');
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password').fill('a few long words');
  await page.getByRole('button', { name: 'Open the account' }).click();
  await page.getByRole('alert').getByText('There is an account with this e-mail address.').waitFor();
});

test('a new password needs the present one, goes on here, and ends other sessions', async () => {
  visit = await dashboard.visit({ refused: /\/password$/ });
  const other = await dashboard.visit({ refused: /\/app\/api\// });
  await Promise.all([visit.signIn(EMAIL), other.signIn(EMAIL)]);
  const { page } = visit;
  const change = async (current: string, wanted: string) => {
    await page.getByLabel('Current password').fill(current);
    await page.getByLabel('New password', { exact: true }).fill(wanted);
    await page.getByLabel('New password again').fill(wanted);
    await page.getByRole('button', { name: 'Change password' }).click();
  };
  await visit.go('/settings');
  await change('not the present one', 'a few other words');
  await page.getByRole('alert').waitFor();
  await change(PASSWORD, 'a few other words');
  await page.getByText('The password is changed.').waitFor();
  await other.go('/checks');
  await other.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await other.close();

  // The session goes on with a token of its own for changes.
  await page.getByLabel('Key name').fill('After');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText(/^vat_live_\w+$/).waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await heading('Sign in');
});

test('the overview shows what happens while it is open', async () => {
  const account = await dashboard.account('busy@example.com');
  visit = await dashboard.visit();
  await visit.signIn('busy@example.com');
  const { page } = visit;
  await page.getByText('First steps').waitFor();
  await page.getByText('0 of 20,000 checks used').waitFor();
  await dashboard.world.http(account.live_key).post('/v1/checks', { vat_number: 'FR40303265045' });
  await page.getByText('1 of 20,000 checks used').waitFor();
  await page.getByText('1 valid · 0 invalid · 0 malformed').waitFor();
  await page.getByText('First steps').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('row', { name: /FR France ok/ }).waitFor();
});
