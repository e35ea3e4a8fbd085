import { type Dashboard, openDashboard, type Visit } from './testing/open-dashboard.fixture.js';

const EMAIL = 'owner@example.com';

let dashboard: Dashboard;
let visit: Visit;
beforeAll(async () => {
  dashboard = await openDashboard();
  await Promise.all([dashboard.account(EMAIL), dashboard.account('free@example.com', { plan: 'free' })]);
}, 120_000);
afterAll(() => dashboard?.close());
afterEach(async () => {
  expect(visit.complaints()).toEqual([]);
  await visit.close();
});

test('a watch is added, shows its first check and a change by itself, is paused, amended and deleted', async () => {
  visit = await dashboard.visit({ refused: /\/app\/api\/watches$/ });
  await visit.signIn(EMAIL);
  const { page } = visit;
  const { world } = dashboard;
  await world.vies.script('FR40303265045', [{ kind: 'valid', name: 'OLD <b>NAME</b>', address: 'A' }]);
  await visit.go('/watches');
  await page.getByLabel('VAT number').fill('FR 40 303 265 045');
  await page.getByLabel('Label').fill('Supplier 7');
  await page.getByLabel('Frequency').selectOption('daily');
  await page.getByRole('button', { name: 'Add watch' }).click();
  const row = page.getByRole('row', { name: /FR40303265045/ });
  await row.getByText('active', { exact: true }).waitFor();
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

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.getByLabel('Label').fill('Renamed');
  await page.getByLabel('Frequency').selectOption('weekly');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('main').getByText('Renamed', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('active', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Nothing is watched yet').waitFor();
});

test('a plan that sells no watches says so before and after it is asked', async () => {
  visit = await dashboard.visit({ refused: /\/app\/api\/watches$/ });
  await visit.signIn('free@example.com');
  const { page } = visit;
  await visit.go('/watches');
  await page.getByText('Your plan, free, sells no watches.').waitFor();
  await page.getByLabel('VAT number').fill('FR40303265045');
  await page.getByRole('button', { name: 'Add watch' }).click();
  await page.getByRole('alert').getByText('Choose another frequency or a larger plan.').waitFor();
});
