import { createHash } from 'node:crypto';
import { startWorld, until, type World } from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const check = (body: object, key?: string | null) => world.http(key).post('/v1/checks', body);

test('a number that VIES calls valid is answered 201 with its check', async () => {
  const { status, body, headers } = await check({ vat_number: 'FR 40 303 265 045', reference: 'order 7' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    object: 'check',
    vat_number: 'FR40303265045',
    country_code: 'FR',
    input: 'FR 40 303 265 045',
    valid: true,
    verdict: 'valid',
    reference: 'order 7',
    requester_vat_number: null,
    consultation_number: null,
    timestamp: null,
    anchor: null,
  });
  expect(body.checks.map((entry: { source: string; outcome: string }) => [entry.source, entry.outcome])).toEqual([
    ['syntax', 'valid'],
    ['vies', 'valid'],
  ]);
  expect(headers.location).toBe(`${world.baseUrl()}/v1/checks/${body.id}`);
  const again = await world.http().get(`/v1/checks/${body.id}`).expect(200);
  expect(again.body).toEqual(body);
});

test('the hash is that of the evidence bytes', async () => {
  const { body } = await check({ vat_number: 'ATU12345675' });
  const evidence = await world
    .http()
    .get(`/v1/checks/${body.id}/evidence`)
    .buffer(true)
    .parse((res, done) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => done(null, Buffer.concat(chunks)));
    });
  expect(`sha256:${createHash('sha256').update(evidence.body).digest('hex')}`).toBe(body.response_hash);
  const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...hashed } = body;
  expect(JSON.parse(evidence.body.toString())).toEqual(hashed);
});

test('an outage is answered 202 and finished in the background, once', async () => {
  await world.vies.script('DE123456788', [
    { kind: 'error', code: 'MS_UNAVAILABLE' },
    { kind: 'error', code: 'MS_UNAVAILABLE' },
    { kind: 'error', code: 'MS_UNAVAILABLE' },
    { kind: 'error', code: 'MS_UNAVAILABLE' },
    { kind: 'error', code: 'MS_UNAVAILABLE' },
    'valid',
  ]);
  const accepted = await check({ vat_number: 'DE123456788' });
  expect(accepted.status).toBe(202);
  expect(accepted.body.poll_url).toBe(`${world.baseUrl()}/v1/requests/${accepted.body.request_id}`);
  const done = await until('the request to complete', async () => {
    const { body } = await world.http().get(`/v1/requests/${accepted.body.request_id}`);
    return body.status === 'completed' && body;
  });
  expect(done.check.valid).toBe(true);
});
