import { once } from 'node:events';
import { expressWebhook, type VerifiedDelivery } from '@vat/receiver';
import { openHttpServer } from '@vat/testkit/local-server';
import { readVectors } from '../conformance.fixture.js';
import { openScriptedService, refusal, type ScriptedService } from '../scripted-service.fixture.js';
import { runHere } from './run-here.fixture.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const { signatures } = await readVectors();

/** One event of every kind, as `GET /v1/events` returns them. */
const EVENTS = signatures.slice(0, 5).map(({ id, body }) => {
  const event = JSON.parse(body);
  return { event_id: id, type: event.event, created_at: '2026-11-20T09:14:01.000Z', test: event.test, body: event };
});
const LAST = EVENTS.at(-1)?.event_id;

let service: ScriptedService;
beforeAll(async () => {
  service = await openScriptedService();
});
afterAll(() => service?.close());

const listen = async (words: string[], enough: (line: string) => boolean, write?: (line: string) => Promise<void>) => {
  const env = { VAT_API_URL: service.baseUrl, VAT_API_KEY: 'vat_test_key' };
  const ended = await runHere(['listen', ...words], env, enough, write);
  return { ...ended, paths: service.calls.map(({ path }) => path) };
};
const page = (data: unknown[], last: unknown) => ({ body: { data, last_event_id: last } });

test('prints what happens from now on, until Ctrl-C, and says where to continue', async () => {
  service.script({ body: { data: [EVENTS[0]], next_cursor: 'c' } }, page(EVENTS.slice(1), LAST), 'wait');
  const { code, stdout, stderr, paths } = await listen([], (line) => line.includes('watch.changed'));
  expect(stdout).toEqual([
    expect.stringMatching(/^2026-11-20T09:14:01\.000Z {2}evt_\w+ {2}check\.completed {2}PL5260250274 valid$/),
    expect.stringMatching(/check\.failed \(test\) {2}req_\w+ UPSTREAM_NO_ANSWER$/),
    expect.stringMatching(/batch\.completed {2}bat_\w+ 247 done, 3 failed$/),
    expect.stringMatching(/watch\.changed {2}FR40303265045 validity: true → false$/),
  ]);
  expect([code, stderr.at(-1)]).toEqual([0, `continue with --after ${LAST}`]);
  expect(paths.slice(0, 2)).toEqual([
    '/v1/events?limit=1',
    `/v1/events?wait=20&limit=100&after=${EVENTS[0]?.event_id}`,
  ]);
});

test('--forward-to posts every event with the signatures of a delivery', async () => {
  const received: VerifiedDelivery[] = [];
  const handle = async (delivery: VerifiedDelivery) => void received.push(delivery);
  const receiver = await openHttpServer(expressWebhook({ secret: SECRET, handle, onError: () => undefined }));
  const url = `${receiver.url}/webhooks`;
  service.script(page(EVENTS, LAST), 'wait');
  const words = ['--after', 'start', '--json', '--forward-to', url, '--secret', SECRET];
  const { code, stdout, stderr } = await listen(words, (line) => line.startsWith(`${LAST}  forwarded`));
  expect(stdout.map((line) => JSON.parse(line))).toEqual(EVENTS.map((event) => JSON.parse(JSON.stringify(event))));
  expect(received.map(({ event, id }) => [event, id])).toEqual(EVENTS.map(({ body, event_id }) => [body, event_id]));
  expect([code, stderr]).toEqual([
    0,
    [
      expect.stringMatching(/^following http/),
      `forwarding to ${url}, signed with ${SECRET}`,
      ...EVENTS.map(({ event_id }) => `${event_id}  forwarded, answered 204`),
      `continue with --after ${LAST}`,
    ],
  ]);
  await receiver.close();
});

test('continues when the receiver gives no answer', async () => {
  const receiver = await openScriptedService();
  receiver.script('close', { status: 500 });
  service.script(page(EVENTS.slice(0, 2), LAST), 'wait');
  const words = ['--after', 'start', '--forward-to', receiver.baseUrl];
  const { code, stderr } = await listen(words, (line) => line === `${EVENTS[1]?.event_id}  forwarded, answered 500`);
  expect([code, stderr.slice(1, 3)]).toEqual([
    0,
    [
      expect.stringMatching(/^forwarding to .* signed with whsec_[A-Za-z0-9+/]{43}=$/),
      expect.stringMatching(/^evt_\w+ {2}not forwarded: other side closed$/),
    ],
  ]);
  await receiver.close();
});

test('a receiver that answers one call at a time is not held up by its own long answer', async () => {
  let answered: Promise<unknown> = Promise.resolve();
  const receiver = await openHttpServer(async (_request, response) => {
    const before = answered;
    answered = once(response, 'close');
    await before;
    response.writeHead(500).end(Buffer.alloc(8_000_000));
  });
  service.script(page(EVENTS.slice(0, 2), LAST), 'wait');
  const words = ['--after', 'start', '--forward-to', receiver.url];
  const { stderr } = await listen(words, (line) => line.startsWith(`${EVENTS[1]?.event_id}  `));
  expect(stderr).toContain(`${EVENTS[1]?.event_id}  forwarded, answered 500`);
  await receiver.close();
});

test('continues where it was when the service does not answer for a while', async () => {
  const away = { body: '<html>The service is being updated.</html>' };
  service.script(page(EVENTS.slice(0, 1), EVENTS[0]?.event_id), away, page(EVENTS.slice(1), LAST), 'wait');
  const { code, stdout, stderr, paths } = await listen(['--after', 'start'], (line) => line.includes('watch.changed'));
  expect([code, stdout.length, stderr.slice(1)]).toEqual([
    ...[0, EVENTS.length],
    [expect.stringMatching(/answered without JSON.* Trying again\.$/), `continue with --after ${LAST}`],
  ]);
  expect(paths.slice(0, 3).map((path) => path.replace(/.*after=/, ''))).toEqual([
    ...['start', EVENTS[0]?.event_id, EVENTS[0]?.event_id],
  ]);
});

test.each([
  ['ENOSPC', 2, /^continue with --after (evt_\w+)$/],
  ['EPIPE', 0, /^the reader of the output has gone; .* the last event that it read, at most (evt_\w+)$/],
])('an event that cannot be written (%s) is not one to continue after', async (code, exit, last) => {
  service.script(page(EVENTS, LAST));
  const write = async (line: string) => {
    if (line.includes(EVENTS[2]?.event_id ?? '')) throw Object.assign(new Error('not written'), { code });
  };
  const ended = await listen(['--after', 'start'], () => false, write);
  const [, place] = ended.stderr.map((line) => last.exec(line)).find((found) => found) ?? [];
  expect([ended.code, ended.stdout.length, place]).toEqual([exit, 2, EVENTS[1]?.event_id]);
});

test.each([
  [['--forward-to', 'localhost:4000'], /--forward-to is an address such as http:\/\/127\.0\.0\.1:4000/],
  [['--forward-to', 'http://127.0.0.1:4000', '--secret', 'secret'], /--secret is whsec_ followed by base64/],
  [['evt_1'], /Unexpected argument evt_1/],
])('%j is refused', async (words, why) => {
  expect(await listen(words, () => false)).toMatchObject({ code: 2, stdout: [], stderr: [expect.stringMatching(why)] });
});

test('a refusal of the service ends it', async () => {
  service.script(refusal(401, 'UNAUTHORIZED'));
  const { code, stderr } = await listen(['--after', 'start'], () => false);
  expect([code, stderr.slice(1)]).toEqual([
    2,
    ['continue with --after start', expect.stringMatching(/\(UNAUTHORIZED\)/)],
  ]);
});
