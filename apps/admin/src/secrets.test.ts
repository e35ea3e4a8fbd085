import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openText, PUBLIC_LINK_SEAL, uuidOf } from '@vat/domain';
import {
  configureWebhook,
  isSignedBy,
  openReceivers,
  type Receivers,
  runProgram,
  startWorld,
  type TestAccount,
  until,
  type World,
} from '@vat/testkit';
import { UsageError } from './command.js';
import { runCommand } from './run-command.js';

const OLD = 'the key before the change';
const NEW = 'the key from now on';
/** More than one page of rows. */
const OTHERS = 205;

let receivers: Receivers;
let world: World;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vat-secrets-'));
  receivers = openReceivers();
  // A service during a change of its key: every process has both keys.
  world = await startWorld({ settings: { ...receivers.settings, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD } });
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
  rmSync(folder, { recursive: true, force: true });
});

const reseal = (settings: Record<string, string> = {}) =>
  runCommand(['secrets', 'reseal'], { ...world.settings, ...settings }, () => Promise.reject(new Error('no input')));

const configure = (account: TestAccount, url: string) =>
  configureWebhook({ sql: world.sql, settings: { ...world.settings, SECRET_KEY: OLD } }, account, url);
const sealedOf = async (account: TestAccount): Promise<Buffer> => {
  const sql = 'SELECT secret_sealed AS sealed FROM webhook WHERE account_id = $1';
  const [row] = await world.sql<{ sealed: Buffer }>(sql, [uuidOf('account', account.account_id)]);
  return row?.sealed ?? Buffer.alloc(0);
};
const authority = async () =>
  (
    await world.sql<{ certificate: string; key_sealed: Buffer }>(
      'SELECT certificate, key_sealed FROM development_authority',
    )
  )[0];
const linkKey = async (): Promise<Buffer> => {
  const [row] = await world.sql<{ sealed: Buffer }>('SELECT key_sealed AS sealed FROM public_link_key');
  return row?.sealed ?? Buffer.alloc(0);
};
const stampCheck = async (baseUrl: string) => {
  const headers = { Authorization: `Bearer ${world.account.live_key}`, 'Content-Type': 'application/json' };
  const post = (at: string, body?: string) =>
    fetch(`${baseUrl}${at}`, { method: 'POST', headers, ...(body && { body }) });
  const check = (await (await post('/v1/checks', '{"vat_number":"DE136695976"}')).json()) as { id: string };
  return (await post(`/v1/checks/${check.id}/timestamp`)).status;
};

test('secrets reseal seals everything with the current key during deliveries, and does nothing the second time', async () => {
  const receiver = await receivers.start();
  const account = world.account;
  const secret = await configure(account, receiver.url);
  const others = await Promise.all(Array.from({ length: OTHERS }, () => world.newAccount()));
  const secrets = await Promise.all(others.map((other) => configure(other, receiver.url)));
  const deliver = async (number: number) => {
    await world.http(account.live_key).post('/v1/webhook/test').expect(202);
    const arrival = await until('the test event', () => receiver.arrivals[number]);
    return isSignedBy(secret, arrival);
  };
  expect(await deliver(0)).toBe(true);

  expect(await reseal()).toEqual({ resealed: OTHERS + 1 });
  for (const [at, other] of others.entries()) {
    const seal = {
      masterKey: NEW,
      purpose: 'webhook secret',
      boundTo: String(uuidOf('account', other.account_id)),
    } as const;
    expect(openText(seal, await sealedOf(other))).toBe(secrets[at]);
  }
  expect(await deliver(1)).toBe(true);
  expect(await reseal()).toEqual({ resealed: 0 });
});

test('the development authority stays the same after a change of the key', async () => {
  expect([200, 201]).toContain(await stampCheck(world.baseUrl()));
  const made = await authority();
  // As if it had been made before the change.
  await reseal({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: NEW });
  const before = await authority();
  expect(before?.certificate).toBe(made?.certificate);
  expect(before?.key_sealed.equals(made?.key_sealed ?? Buffer.alloc(0))).toBe(false);

  const api = await world.startApi();
  expect([200, 201]).toContain(await stampCheck(String(api.ready.base_url)));
  expect(await authority()).toEqual(before);
  await reseal();
  expect((await authority())?.certificate).toBe(made?.certificate);
  const later = await world.startApi({ SECRET_KEY_PREVIOUS: '' });
  expect([200, 201]).toContain(await stampCheck(String(later.ready.base_url)));
  expect((await authority())?.certificate).toBe(made?.certificate);
  await Promise.all([api.stop(), later.stop()]);
});

test('the key of public links is resealed, and stays the same', async () => {
  const check = await world.http().post('/v1/checks', { vat_number: 'DE136695976' }).expect(201);
  await world.http().get(`/v1/checks/${check.body.id}/link`).expect(200);
  const made = openText({ masterKey: NEW, ...PUBLIC_LINK_SEAL }, await linkKey());
  // The key of the development authority too.
  expect(await reseal({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: NEW })).toEqual({ resealed: OTHERS + 3 });
  expect(openText({ masterKey: OLD, ...PUBLIC_LINK_SEAL }, await linkKey())).toBe(made);
  await reseal();
  expect(openText({ masterKey: NEW, ...PUBLIC_LINK_SEAL }, await linkKey())).toBe(made);
});

test('secrets reseal with wrong keys changes nothing and lists the secrets that cannot be opened', async () => {
  await configure(world.account, 'https://127.0.0.1/');
  const sealed = await sealedOf(world.account);
  const wrong = { SECRET_KEY: 'a third key of some length', SECRET_KEY_PREVIOUS: '' };
  const refusal = await reseal(wrong).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UsageError);
  const { message } = refusal as UsageError;
  expect(message).toMatch(
    /^Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens the key of public links, the webhook secret of acc_.* and \d+ more\./,
  );
  expect(message).not.toContain(wrong.SECRET_KEY);
  expect((await sealedOf(world.account)).equals(sealed)).toBe(true);
  await reseal();
});

test('secrets reseal with the same key twice is refused: its answer would say that the previous key is not needed', async () => {
  const refusal = await reseal({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: OLD }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UsageError);
  expect((refusal as UsageError).message).toMatch(/are the same/);
});

test('a session and its open pages survive a change of the key', async () => {
  await world.newAccount({ email: 'page@example.com' });
  const before = await world.startApi({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: '' });
  const session = await fetch(`${String(before.ready.base_url)}/app/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'page@example.com', password: 'correct horse' }),
  });
  const { csrf_token: token } = (await session.json()) as { csrf_token: string };
  const cookie = String(session.headers.getSetCookie()[0]).split(';')[0] ?? '';
  const makeKey = (csrf: string) =>
    fetch(`${world.baseUrl()}/app/api/keys`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookie, 'X-CSRF-Token': csrf },
      body: JSON.stringify({ name: 'from an open page', test: true }),
    });
  expect((await makeKey(token)).status).toBe(201);
  expect((await makeKey(`${token}x`)).status).toBe(403);
  await before.stop();
});

test('API and worker start with their secrets in files', async () => {
  const inFiles = Object.fromEntries(
    ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'DATABASE_URL', 'REDIS_URL'].flatMap((name) => {
      const file = path.join(folder, name);
      writeFileSync(file, `${world.settings[name]}\n`);
      return [
        [name, ''],
        [`${name}_FILE`, file],
      ];
    }),
  );
  const [api, worker] = await Promise.all([world.startApi(inFiles), world.startWorker(inFiles)]);
  const isReady = async () => (await fetch(`${String(api.ready.base_url)}/readyz`)).ok;
  await until('the API to reach both servers', isReady);
  await Promise.all([api.stop(), worker.stop()]);

  const both = { ...world.settings, ...inFiles, DATABASE_URL: String(world.settings['DATABASE_URL']) };
  const { code, stderr } = await runProgram('apps/worker/dist/main.js', [], both, true);
  expect([code, stderr]).toEqual([
    78,
    expect.stringContaining('DATABASE_URL: set DATABASE_URL or DATABASE_URL_FILE, not both'),
  ]);
});

test('account create reads the password from standard input', async () => {
  const create = async (email: string, input: string) => {
    const words = ['account', 'create', '--name', 'Ada', '--email', email, '--password', '-'];
    const { code, stdout } = await runProgram('apps/admin/dist/main.js', words, world.settings, true, input);
    return { code, answer: JSON.parse(stdout) };
  };
  const { code, answer } = await create('piped@example.com', 'pässword from a pipe\nand nothing else\n');
  expect([code, Object.keys(answer)]).toEqual([0, ['account_id', 'live_key', 'test_key']]);
  const { status } = await fetch(`${world.baseUrl()}/app/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'piped@example.com', password: 'pässword from a pipe' }),
  });
  expect(status).toBe(200);

  const empty = await create('nothing@example.com', '');
  expect([empty.code, empty.answer.error]).toEqual([
    1,
    { code: 'USAGE', message: '--password has at least 8 characters' },
  ]);
});
