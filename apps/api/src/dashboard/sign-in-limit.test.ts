import { startWorld, type World } from '@vat/testkit';
import { type Browser, openBrowser, PASSWORD } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

let world: World;
let made = 0;
beforeAll(async () => {
  // A call may say where it comes from, as behind a proxy.
  world = await startWorld({ workers: 0, apis: 2, settings: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  await world.newAccount({ email: 'bystander@example.com' });
});
afterAll(() => world?.stop());

const browser = (api = 0): Browser => openBrowser(String(world.apis[api]?.ready.base_url));
/** An address that no other test has used, with a user or without; one user more is quicker to make than an account. */
const newAddress = async (known: boolean): Promise<string> => {
  made += 1;
  const email = `address${made}@example.com`;
  if (known) {
    await world.sql(
      `INSERT INTO app_user (id, account_id, email, password_hash, created_at)
       SELECT gen_random_uuid(), account_id, $1, password_hash, now() FROM app_user WHERE email = 'bystander@example.com'`,
      [email],
    );
  }
  return email;
};
const tries = async (email: string, count: number, password = 'wrong', api = 0): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < count; i += 1) statuses.push((await browser(api).signIn(email, password)).status);
  return statuses;
};
const quarterLater = () =>
  world.sql("UPDATE sign_in_attempt SET tried_at = ARRAY(SELECT t - interval '15 minutes' FROM unnest(tried_at) t)");

test.each([true, false])(
  'five wrong tries are 401, the sixth is 429 with Retry-After, whatever its password (address known: %s)',
  async (known) => {
    const email = await newAddress(known);
    expect(await tries(email, 5)).toEqual([401, 401, 401, 401, 401]);
    for (const password of ['wrong', PASSWORD]) {
      const { status, body, headers } = await browser().signIn(email, password);
      expect([status, body.error]).toEqual([
        429,
        { code: 'TOO_MANY_SIGN_INS', message: expect.any(String), retry_after: expect.any(Number) },
      ]);
      expect(body.error.retry_after).toBeGreaterThan(850);
      expect(body.error.retry_after).toBeLessThanOrEqual(900);
      expect(headers['retry-after']).toBe(String(body.error.retry_after));
    }
  },
);

test('another address is not locked out, from the same place', async () => {
  await tries(await newAddress(true), 6);
  expect((await browser().signIn('bystander@example.com')).status).toBe(200);
});

test('whoever is signed in stays so while strangers try the address', async () => {
  const email = await newAddress(true);
  const opened = browser();
  await opened.signIn(email);
  expect((await tries(email, 6)).at(-1)).toBe(429);
  expect((await opened.call('get', '/session')).status).toBe(200);
});

test('tries count over every process, and however the address is spelt', async () => {
  const email = await newAddress(true);
  await tries(email, 3);
  await tries(` ${email.toUpperCase()}`, 2, 'wrong', 1);
  expect([await tries(email, 1), await tries(email, 1, 'wrong', 1)]).toEqual([[429], [429]]);
});

test('a right password takes the wrong tries back', async () => {
  const email = await newAddress(true);
  for (let i = 0; i < 2; i += 1) {
    expect(await tries(email, 4)).toEqual([401, 401, 401, 401]);
    expect(await tries(email, 1, PASSWORD)).toEqual([200]);
  }
});

test('tries count for fifteen minutes, and a refusal does not make that longer', async () => {
  const email = await newAddress(true);
  expect((await tries(email, 7)).slice(5)).toEqual([429, 429]);
  await quarterLater();
  expect(await tries(email, 1, PASSWORD)).toEqual([200]);
});

test('right passwords that arrive together are all let in', async () => {
  const email = await newAddress(true);
  const answers = await Promise.all(Array.from({ length: 12 }, () => browser().signIn(email)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('of a thousand parallel wrong tries five are judged, and another address signs in meanwhile', async () => {
  const email = await newAddress(true);
  const flood = Array.from(
    { length: 1_000 },
    async (_, i) => (await browser(i % 2).signIn(email, `guess ${i}`)).status,
  );
  const bystander = browser().signIn('bystander@example.com');
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(995);
  expect((await bystander).status).toBe(200);
  expect(await tries(email, 1, PASSWORD)).toEqual([429]);
});

const signInFrom = (network: string, email: string, password = PASSWORD) =>
  browser().call('post', '/session', { email, password }).set('X-Forwarded-For', network);
const triesCounted = async (): Promise<number> => {
  const [row] = await world.sql<{ n: string }>('SELECT sum(cardinality(tried_at)) AS n FROM sign_in_attempt');
  return Number(row?.n);
};

test('of the ever new addresses that one network tries few wait, the others are 429 uncounted, and another network signs in', async () => {
  await world.sql('DELETE FROM sign_in_attempt');
  const flood = Array.from({ length: 80 }, async (_, n) => signInFrom('198.51.100.1', `nobody${n}@example.com`));
  const bystander = await signInFrom('198.51.100.2', 'bystander@example.com');
  expect(bystander.status).toBe(200);
  const answers = await Promise.all(flood);
  const judged = answers.filter(({ status }) => status === 401);
  const refused = answers.filter(({ status }) => status === 429);
  expect(judged.length + refused.length).toBe(80);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, headers } of refused)
    expect([body.error.code, headers['retry-after']]).toEqual(['TOO_MANY_SIGN_INS', '2']);
  // Once of its address, once of the network.
  expect(await triesCounted()).toBe(2 * judged.length);
});

test('a network has so many wrong tries in all; right ones do not count, and neither address nor other networks pay for it', async () => {
  const email = await newAddress(true);
  await world.sql('DELETE FROM sign_in_attempt');
  expect((await signInFrom('198.51.100.3', email)).status).toBe(200);
  expect(await triesCounted()).toBe(0);
  expect((await signInFrom('198.51.100.3', 'nobody@example.com')).status).toBe(401);
  await world.sql('UPDATE sign_in_attempt SET tried_at = array_fill(tried_at[1], ARRAY[1500])');
  for (let n = 0; n < 6; n += 1) {
    const { status, headers } = await signInFrom('198.51.100.3', email);
    expect([status, Number(headers['retry-after']) > 850]).toEqual([429, true]);
  }
  expect((await signInFrom('198.51.100.4', email)).status).toBe(200);
});

test('what was typed lies nowhere: people type their password into the other field', async () => {
  await browser().signIn('my secret password', 'another secret');
  const everything = `${await databaseText(world)}\n${logText(world)}`;
  expect(everything).toContain('bystander@example.com');
  for (const typed of ['my secret password', 'another secret']) {
    for (const form of formsOf(typed)) expect(everything.includes(form)).toBe(false);
  }
});

test('without Redis people sign in, and tries are counted all the same', async () => {
  const api = await world.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  const alone = () => openBrowser(String(api.ready.base_url));
  expect((await alone().signIn('bystander@example.com')).status).toBe(200);
  const email = await newAddress(true);
  for (let i = 0; i < 5; i += 1) expect((await alone().signIn(email, 'wrong')).status).toBe(401);
  expect((await alone().signIn(email)).status).toBe(429);
  await api.stop();
});
