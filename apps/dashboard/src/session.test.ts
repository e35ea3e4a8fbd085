import { type Dashboard, openDashboard, PASSWORD, type Visit } from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
beforeAll(async () => {
  dashboard = await openDashboard({ workers: 0 });
  await dashboard.account(EMAIL, { name: 'Owner & Söhne' });
}, 120_000);
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
const heading = ({ page }: Visit, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('a visitor is sent to sign in, then on to the page that was wanted, filters included', async () => {
  visit = await dashboard.visit();
  await visit.go('/checks?valid=true');
  await heading(visit, 'Sign in');
  await signInHere(visit);
  await heading(visit, 'Checks');
  expect(new URL(visit.page.url()).pathname).toBe('/app/checks');
  expect(await visit.page.getByLabel('Validity').inputValue()).toBe('true');
});

test('a wrong password is told with its remedy, and the right one works after it', async () => {
  visit = await dashboard.visit({ refused: /\/session$/ });
  await visit.go('/sign-in');
  await signInHere(visit, 'wrong');
  const refusal = visit.page.getByRole('alert');
  expect(await refusal.textContent()).toContain('Check both for typing errors');
  await signInHere(visit);
  await heading(visit, 'Overview');
});

test('an address of another site is no place to go on to', async () => {
  visit = await dashboard.visit();
  await visit.go('/sign-in?next=//evil.example/app');
  await signInHere(visit);
  await heading(visit, 'Overview');
});

test('signing out ends the session on the server: another window is sent to sign in at once', async () => {
  visit = await dashboard.visit({ refused: /\/app\/api\// });
  await visit.signIn(EMAIL);
  const other = await visit.page.context().newPage();
  await other.goto('/app/settings');
  await other.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await visit.page.getByRole('button', { name: 'Sign out' }).click();
  await heading(visit, 'Sign in');
  await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await visit.go('/settings');
  await heading(visit, 'Sign in');
});

test('everything is reached by the keyboard, and what has the focus shows it', async () => {
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
  for (let presses = 0; presses < 10; presses += 1) {
    await page.keyboard.press('Tab');
    const { name, isShown } = await focused();
    expect([name, isShown]).toEqual([name, true]);
    seen.push(name);
  }
  const links = ['Overview', 'Checks', 'Batches', 'Watches', 'Evidence', 'Deliveries', 'Settings'];
  expect(seen).toEqual(['Skip to the content', ...links, 'Sign out', 'New check']);
  await page.keyboard.press('Enter');
  await heading(visit, 'New check');
});
