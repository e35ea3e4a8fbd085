import { startWorld, type TestProcess, until, type World } from '@vat/testkit';
import supertest from 'supertest';
import { logText } from '../dashboard/everything.fixture.js';
import { OPS_LIMIT } from './compose-ops.js';

const PASSWORD = 'Grüße: 10 words';

let world: World;
let below: TestProcess;
beforeAll(async () => {
  // Calls send X-Forwarded-For, as behind a proxy: each test has its own network.
  const settings = { OPS_PASSWORD: PASSWORD, TRUSTED_PROXIES: '127.0.0.0/8' };
  world = await startWorld({ workers: 0, settings });
  below = await world.startApi({ BASE_URL: 'https://example.com/vat/' });
});
afterAll(() => world?.stop());

const basic = (password: string, user = 'anybody') =>
  `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
const call = (
  method: 'get' | 'put' | 'post' | 'patch' | 'delete',
  path: string,
  from: string,
  authorization: string | null = basic(PASSWORD),
  baseUrl = world.baseUrl(),
) => {
  const test = supertest(baseUrl)[method](path).set('X-Forwarded-For', from);
  return authorization === null ? test : test.set('Authorization', authorization);
};

test.each([
  ['nothing', () => null],
  ['a wrong password', () => basic(`${PASSWORD}!`)],
  ['a password without a user name', () => `Basic ${Buffer.from(PASSWORD).toString('base64').slice(0, 4)}`],
  ['an API key', () => `Bearer ${world.account.live_key}`],
])('%s is 401 with a challenge that browsers understand', async (_name, authorization) => {
  for (const path of ['/ops', '/ops/api/queues', '/ops/static/js/main.js']) {
    const { status, headers, body } = await call('get', path, '198.51.100.1', authorization());
    expect([status, body.error?.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(headers['www-authenticate']).toMatch(/^Basic realm="[^"]+", charset="UTF-8"$/);
  }
});

test('the password gives access to the page, which loads nothing from other origins and is not indexed', async () => {
  const { status, text, headers } = await call('get', '/ops', '198.51.100.2');
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toContain('<base href="/ops/"');
  expect(headers['content-security-policy']).toContain("script-src 'self';");
  expect(headers['x-robots-tag']).toContain('noindex');
  expect(headers).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(headers['x-powered-by']).toBeUndefined();
  for (const [, script] of text.matchAll(/<script[^>]* src="([^"]+)"/g)) {
    await call('get', `/ops/${script}`, '198.51.100.2')
      .expect(200)
      .expect('Content-Type', /javascript/);
  }
});

test('behind a proxy that serves it below a path, its links begin with that path', async () => {
  const port = String(below.ready.port);
  const { text } = await call('get', '/ops', '198.51.100.3', basic(PASSWORD), `http://127.0.0.1:${port}`);
  expect(text).toContain('<base href="/vat/ops/"');
});

test('what lies below a path is logged and counted with its whole path, and an account with its public id', async () => {
  const from = '198.51.100.16';
  await call('get', '/ops/api/queues?page=1', from).expect(200);
  await call('get', '/app/checks', from, null).expect(200);
  await world.http().get('/v1/usage').expect(200);
  const logged = ['"path":"/ops/api/queues"', '"path":"/app/checks"', `"account_id":"${world.account.account_id}"`];
  await until('the lines', () => logged.every((field) => logText(world).includes(field)));
  const { text } = await call('get', '/metrics', from, null).expect(200);
  expect(text).toContain('route="/ops/api/queues"');
});

test('waiting jobs are shown with ids only, and cannot be changed', async () => {
  const from = '198.51.100.4';
  const accepted = await world.http().post('/v1/checks', { vat_number: 'FR40303265045', reference: 'order-secret' });
  expect(accepted.status).toBe(202);
  const queues = '/ops/api/queues?activeQueue=%7Bupstream-FR%7D&page=1';
  const waiting = async () => {
    const { body, text } = await call('get', queues, from).expect(200);
    expect(text).not.toMatch(/40303265045|order-secret/);
    return body.queues.find(({ name }: { name: string }) => name === '{upstream-FR}');
  };
  // By itself it goes from one to the other, and back.
  const unfinished = ({ delayed, waiting, prioritized }: Record<string, number>) =>
    Number(delayed) + Number(waiting) + Number(prioritized);
  const { counts, readOnlyMode, jobs } = await waiting();
  const [job] = jobs;
  expect([unfinished(counts), readOnlyMode]).toEqual([1, true]);
  expect(job.data.request_id).toMatch(/^[0-9a-f-]{36}$/);
  const queue = '/ops/api/queues/%7Bupstream-FR%7D';
  for (const [method, path] of [
    ['put', `${queue}/pause`],
    ['put', `${queue}/empty`],
    ['put', `${queue}/obliterate`],
    ['put', `${queue}/promote`],
    ['put', `${queue}/${job.id}/clean`],
    ['put', `${queue}/${job.id}/retry/delayed`],
    ['put', `${queue}/${job.id}/promote`],
    ['patch', `${queue}/${job.id}/update-data`],
    ['post', `${queue}/add`],
    ['put', '/ops/api/queues/pause'],
    ['delete', `${queue}/${job.id}`],
  ] as const) {
    const { status, headers } = await call(method, path, from);
    expect([path, status, headers['allow']]).toEqual([path, 405, 'GET, HEAD']);
  }
  const after = await waiting();
  expect([unfinished(after.counts), after.isPaused]).toEqual([1, false]);
  expect(after.jobs).toMatchObject([{ data: job.data }]);
});

test('too many wrong passwords lock a network out for a while, also with the right one, and no other network', async () => {
  const from = '198.51.100.5';
  await call('get', '/ops', from).expect(200);
  for (let tries = 0; tries < OPS_LIMIT.tries; tries += 1)
    await call('get', '/ops', from, basic(`no ${tries}`)).expect(401);
  const { status, body, headers } = await call('get', '/ops', from);
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_SIGN_INS']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(60);
  await call('get', '/ops', '198.51.100.6').expect(200);
});

test('neither the password nor a wrong one is in a log line', async () => {
  await call('get', '/ops', '198.51.100.7', basic('tried-in-vain')).expect(401);
  const text = logText(world);
  expect(text).toContain('"/ops"');
  for (const secret of [PASSWORD, 'tried-in-vain', basic(PASSWORD).slice(6)]) expect(text).not.toContain(secret);
});
