import { startWorld, until, type World } from '@vat/testkit';
import { openBrowser } from './browser.fixture.js';

const EMAIL = 'owner@example.com';
const FILE = Buffer.from('vat_number;note\nDE136695976;Müller\n');

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.newAccount({ email: EMAIL });
});
afterAll(() => world?.stop());

const signedIn = async () => {
  const browser = openBrowser(world.baseUrl());
  await browser.signIn(EMAIL);
  return browser;
};

test('a session uploads a file, follows it and downloads its results', async () => {
  const browser = await signedIn();
  const made = await browser.call('post', '/batches').attach('file', FILE, 'a.csv').field('label', 'Mine');
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ label: 'Mine', total: 1 })]);
  const path = `/batches/${made.body.batch_id}`;
  await until('the batch to complete', async () => (await browser.call('get', path)).body.status === 'completed');
  const results = await browser.call('get', `${path}/results.csv?delimiter=;`);
  expect(results.text).toContain('DE136695976;Müller;DE136695976;true;valid;');
  expect((await browser.call('delete', path)).status).toBe(204);
});

test('an upload without the CSRF token is refused before its file is read', async () => {
  const browser = await signedIn();
  browser.csrf = 'wrong';
  const refused = await browser.call('post', '/batches').attach('file', Buffer.alloc(3_000_000, 120), 'a.csv');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
});
