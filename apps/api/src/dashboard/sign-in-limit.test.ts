import { startWorld, type TestProcess, until, type World } from '@vat/testkit';
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
/** An address that no other test uses, with or without a user; creating a user is faster than creating an account. */
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
  'five wrong passwords are 401, the sixth sign-in is 429 with Retry-After, whatever its password (address known: %s)',
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

test('another address can still sign in from the same network', async () => {
  await tries(await newAddress(true), 6);
  expect((await browser().signIn('bystander@example.com')).status).toBe(200);
});

test('existing sessions stay valid while strangers try the address', async () => {
  const email = await newAddress(true);
  const opened = browser();
  await opened.signIn(email);
  expect((await tries(email, 6)).at(-1)).toBe(429);
  expect((await opened.call('get', '/session')).status).toBe(200);
});

test('attempts count over all processes, in any spelling of the address', async () => {
  const email = await newAddress(true);
  await tries(email, 3);
  await tries(` ${email.toUpperCase()}`, 2, 'wrong', 1);
  expect([await tries(email, 1), await tries(email, 1, 'wrong', 1)]).toEqual([[429], [429]]);
});

test('a right password resets the wrong ones', async () => {
  const email = await newAddress(true);
  for (let i = 0; i < 2; i += 1) {
    expect(await tries(email, 4)).toEqual([401, 401, 401, 401]);
    expect(await tries(email, 1, PASSWORD)).toEqual([200]);
  }
});

test('attempts count for fifteen minutes, and a refusal does not extend that', async () => {
  const email = await newAddress(true);
  expect((await tries(email, 7)).slice(5)).toEqual([429, 429]);
  await quarterLater();
  // Refusals are cached for a second.
  await until('the address to be free', async () => (await tries(email, 1, PASSWORD))[0] === 200);
});

test('concurrent sign-ins with the right password all succeed', async () => {
  const email = await newAddress(true);
  const answers = await Promise.all(Array.from({ length: 12 }, () => browser().signIn(email)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('of a thousand concurrent wrong passwords five are verified, and another address signs in meanwhile', async () => {
  const email = await newAddress(true);
  const flood = Array.from(
    { length: 1_000 },
    async (_, i) => (await browser(i % 2).signIn(email, `guess ${i}`)).status,
  );
  const bystander = browser().signIn('bystander@example.com');
  const statuses = await Promise.all(flood);
  const tally = (wanted: number) => statuses.filter((status) => status === wanted).length;
  expect({ wrong: tally(401), refused: tally(429) }).toEqual({ wrong: 5, refused: 995 });
  expect((await bystander).status).toBe(200);
  expect(await tries(email, 1, PASSWORD)).toEqual([429]);
});

const signInFrom = (network: string, email: string, password = PASSWORD, api = 0) =>
  browser(api).call('post', '/session', { email, password }).set('X-Forwarded-For', network);
const triesCounted = async (): Promise<number> => {
  const [row] = await world.sql<{ n: string }>('SELECT sum(cardinality(tried_at)) AS n FROM sign_in_attempt');
  return Number(row?.n);
};

test('when one network tries many addresses, few wait, the others are 429 without being counted, and another network signs in', async () => {
  await world.sql('DELETE FROM sign_in_attempt');
  const flood = Array.from({ length: 80 }, async (_, n) =>
    signInFrom('198.51.100.1', `nobody${n}@example.com`, 'wrong', 1),
  );
  const bystander = await signInFrom('198.51.100.2', 'bystander@example.com', PASSWORD, 1);
  expect(bystander.status).toBe(200);
  const answers = await Promise.all(flood);
  const verified = answers.filter(({ status }) => status === 401);
  const refused = answers.filter(({ status }) => status === 429);
  expect(verified.length + refused.length).toBe(80);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, headers } of refused)
    expect([body.error.code, headers['retry-after']]).toEqual(['TOO_MANY_SIGN_INS', '2']);
  // One each for the site, the wide network and the family.
  expect(await triesCounted()).toBe(3 * verified.length);
});

describe('by networks', () => {
  // A separate process: each verifies 60 wrong passwords at first, then two per second.
  let api: TestProcess;
  beforeAll(async () => {
    api = await world.startApi();
  });
  const from = (network: string, email: string, password = PASSWORD) =>
    openBrowser(String(api.ready.base_url))
      .call('post', '/session', { email, password })
      .set('X-Forwarded-For', network);
  const wrongFrom = async (networks: string[], email: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (const network of networks) statuses.push((await from(network, email, 'wrong')).status);
    return statuses;
  };
  const repeated = (times: number, network: string): string[] => Array.from({ length: times }, () => network);
  /** Uses up the attempts of all of IPv4 for each address. */
  const exhaustFamily = () =>
    world.sql('UPDATE sign_in_attempt SET tried_at = array_fill(now(), ARRAY[100]) WHERE cardinality(tried_at) > 5');

  test('a right password leaves no row', async () => {
    const email = await newAddress(true);
    await world.sql('DELETE FROM sign_in_attempt');
    expect((await from('198.51.100.3', email)).status).toBe(200);
    const [row] = await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM sign_in_attempt');
    expect(row?.n).toBe(0);
  });

  test('the owner of an address that is under attack from one network signs in from another', async () => {
    const email = await newAddress(true);
    expect((await wrongFrom(repeated(6, '198.51.100.5'), email)).at(-1)).toBe(429);
    expect((await from('198.51.100.6', email)).status).toBe(200);
    expect((await from('198.51.100.5', email)).status).toBe(429);
  });

  test('the /64s of one /48 share five wrong passwords for an address, and the /48s of one /32 share twenty', async () => {
    const email = await newAddress(true);
    const sameSite = Array.from({ length: 8 }, (_, n) => `2001:db8:1:${n}::1`);
    expect(await wrongFrom(sameSite, email)).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const sameProvider = Array.from({ length: 20 }, (_, n) => `2001:db8:${n + 2}::1`);
    const statuses = await wrongFrom(sameProvider, email);
    expect(statuses.filter((status) => status === 401)).toHaveLength(15);
    expect((await from('2001:db9::1', email)).status).toBe(200);
  });

  test('while many networks try an address, its owner signs in from a known network and from the other family', async () => {
    const email = await newAddress(true);
    await world.sql('DELETE FROM sign_in_attempt');
    expect((await from('203.0.113.7', email)).status).toBe(200);
    await wrongFrom([...repeated(5, '198.18.0.1'), '198.19.0.1'], email);
    await exhaustFamily();
    const { status, body } = await from('192.0.2.9', email);
    expect([status, body.error?.code]).toEqual([429, 'TOO_MANY_SIGN_INS']);
    expect((await from('203.0.113.7', email)).status).toBe(200);
    expect((await from('2001:db8:77::1', email)).status).toBe(200);
    expect(await wrongFrom(repeated(6, '203.0.113.7'), email)).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

describe('behind a proxy that TRUSTED_PROXIES does not name', () => {
  const PEER_LOG = 'TRUSTED_PROXIES does not name';
  let direct: TestProcess;
  beforeAll(async () => {
    direct = await world.startApi({ TRUSTED_PROXIES: '192.0.2.99' });
  });
  const signInBehind = (forwarded: string, email: string, password = PASSWORD) =>
    openBrowser(String(direct.ready.base_url))
      .call('post', '/session', { email, password })
      .set('X-Forwarded-For', forwarded);
  const errors = () => direct.lines().filter((line) => line.includes(PEER_LOG));

  test('an ERROR is logged once', async () => {
    const none = openBrowser(String(direct.ready.base_url));
    await none.call('get', '/config').expect(200);
    await none.call('get', '/config').set('X-Forwarded-For', 'nonsense').expect(200);
    expect(errors()).toEqual([]);
    for (let n = 0; n < 3; n += 1) await none.call('get', '/config').set('X-Forwarded-For', '198.51.100.9').expect(200);
    await until('the log', () => errors().length > 0);
    expect(errors()).toHaveLength(1);
    expect(JSON.parse(errors()[0] ?? '')).toMatchObject({ level: 'error', peer: expect.stringContaining('127.0.0.1') });
  });

  test('wrong passwords of one client prevent neither the others nor the owner of the address from signing in', async () => {
    const email = await newAddress(true);
    for (let n = 0; n < 6; n += 1) await signInBehind('10.1.1.1, 198.51.100.20', email, 'wrong');
    expect((await signInBehind('198.51.100.20', email)).status).toBe(429);
    expect((await signInBehind('198.51.100.21', email)).status).toBe(200);
    expect((await signInBehind('198.51.100.20', 'bystander@example.com')).status).toBe(200);
  });

  test('a peer that invents clients has twenty attempts for an address', async () => {
    const email = await newAddress(true);
    const statuses: number[] = [];
    for (let n = 0; n < 24; n += 1) statuses.push((await signInBehind(`203.0.${n}.1`, email, 'wrong')).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429, 429, 429]);
  });
});

test('typed addresses are not stored or logged: users may type their password into that field', async () => {
  await browser().signIn('my secret password', 'another secret');
  const everything = `${await databaseText(world)}\n${logText(world)}`;
  expect(everything).toContain('bystander@example.com');
  for (const typed of ['my secret password', 'another secret']) {
    for (const form of formsOf(typed)) expect(everything.includes(form)).toBe(false);
  }
});

test('without Redis users can sign in, and attempts are counted', async () => {
  const api = await world.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  const alone = () => openBrowser(String(api.ready.base_url));
  expect((await alone().signIn('bystander@example.com')).status).toBe(200);
  const email = await newAddress(true);
  for (let i = 0; i < 5; i += 1) expect((await alone().signIn(email, 'wrong')).status).toBe(401);
  expect((await alone().signIn(email)).status).toBe(429);
  await api.stop();
});
