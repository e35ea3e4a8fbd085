import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { checkSchema } from '@vat/contracts';
import { type CheckBody, EVIDENCE_GRADES, type EvidenceGrade, uuidOf } from '@vat/domain';
import { canonicalText } from '@vat/evidence/portable';
import {
  insertEarlierChecks,
  type LocalServer,
  openHttpServer,
  provideAuditorTools,
  startWorld,
  unpackDossier,
  until,
  type World,
} from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const REGISTERED = {
  ...{ ico: '00006947', obchodniJmeno: 'Müller stavby, spol. s r.o.', dic: 'CZ00006947' },
  sidlo: { textovaAdresa: 'Letenská 525/15, Malá Strana, 118 00 Praha 1' },
  seznamRegistraci: { stavZdrojeDph: 'AKTIVNI' },
};

let world: World;
let caller: () => ReturnType<World['http']>;
let register: LocalServer;
beforeAll(async () => {
  register = await openHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(REGISTERED));
  });
  world = await startWorld({
    settings: {
      ENRICHMENT_SOURCES: 'cz_ares',
      ENRICHMENT_CZ_ARES_URL: register.url,
      BACKGROUND_RETRY_DELAYS: '1s',
    },
  });
  caller = await crowd(world, world.account.account_id);
});
afterAll(async () => {
  await world?.stop();
  await register?.close();
});

const NOTHING = { score: null, name: null, street: null, postal_code: null, city: null };
const check = async (body: object): Promise<CheckBody> => (await caller().post('/v1/checks', body).expect(201)).body;

test('a trader is matched with VIES and the register; match and grade are part of the hash', async () => {
  const trader = { name: 'Mueller Stavby', street: 'Letenska 525', postal_code: '11800', city: 'Prague' };
  await world.vies.script('CZ00006947', [{ kind: 'valid', name: 'Ministerstvo financí', address: 'Brno' }]);
  const body = await check({ vat_number: 'CZ00006947', trader });
  expect(body).toMatchObject({
    trader,
    match: {
      score: 100,
      name: { score: 100, expected: 'Mueller Stavby', found: 'Müller stavby, spol. s r.o.', source: 'cz_ares' },
      street: { score: 100, expected: 'Letenska 525', source: 'cz_ares' },
      postal_code: { score: 100, expected: '11800', found: '118 00', source: 'cz_ares' },
      city: { score: 100, expected: 'Prague', source: 'cz_ares' },
    },
    evidence_grade: 'corroborated',
  });
  expect(Object.keys(body.match ?? {})).toEqual(['score', 'name', 'street', 'postal_code', 'city']);
  expect(checkSchema.parse(body)).toEqual(body);

  const { text } = await caller().get(`/v1/checks/${body.id}/evidence`).expect(200);
  const { response_hash, timestamp: _timestamp, anchor: _anchor, ...hashed } = checkSchema.parse(body);
  expect(canonicalText(hashed)).toBe(text);
  expect(`sha256:${createHash('sha256').update(text).digest('hex')}`).toBe(response_hash);
  const changed = { ...hashed, evidence_grade: 'qualified' };
  expect(canonicalText(changed)).not.toBe(text);
  expect((await caller().get(`/v1/checks/${body.id}`).expect(200)).body).toEqual(body);
});

test('each grade, and what stands in its way', async () => {
  const requester_vat_number = 'BE0428759497';
  const grades: [EvidenceGrade, object][] = [
    ['none', { vat_number: 'DE12' }],
    ['basic', { vat_number: 'ES54362315K' }],
    ['named', { vat_number: 'FR40303265045' }],
    ['corroborated', { vat_number: 'CZ00006947' }],
    ['qualified', { vat_number: 'FR40303265045', requester_vat_number }],
    ['qualified', { vat_number: 'ES54362315K', requester_vat_number }],
    [
      'qualified',
      { vat_number: 'FR40303265045', requester_vat_number, trader: { name: 'Sandbox trader fr40303265045' } },
    ],
    ['named', { vat_number: 'FR40303265045', requester_vat_number, trader: { name: 'The wrong company' } }],
    ['corroborated', { vat_number: 'CZ00006947', requester_vat_number, trader: { city: 'wrong' } }],
  ];
  for (const [grade, body] of grades) expect([body, (await check(body)).evidence_grade]).toEqual([body, grade]);
  expect(new Set(grades.map(([grade]) => grade)).size).toBe(EVIDENCE_GRADES.length);
  expect((await check({ vat_number: 'DE12' })).match).toBeNull();
  const undisclosed = await check({ vat_number: 'ES54362315K', trader: { name: 'Acme' } });
  expect(undisclosed.match).toEqual(NOTHING);
});

test('a check that was completed in the background has them too, in its event as well', async () => {
  await world.vies.script('PT501964843', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  const trader = { name: 'Sandbox Trader' };
  const accepted = await caller().post('/v1/checks', { vat_number: 'PT501964843', trader }).expect(202);
  await world.vies.script('PT501964843', [{ kind: 'valid', name: 'Sandbox Trader, S.A.', address: 'Lisboa' }]);
  const done = await until('the check', async () => {
    const { body } = await caller().get(`/v1/requests/${accepted.body.request_id}`);
    return body.status === 'completed' && body.check;
  });
  expect(done).toMatchObject({ trader, match: { score: 100, name: { source: 'vies' } }, evidence_grade: 'named' });
  const [event] = await world.sql<{ body: string }>(`SELECT body FROM event WHERE subject_id = $1`, [
    uuidOf('request', accepted.body.request_id),
  ]);
  expect(checkSchema.parse(JSON.parse(event?.body ?? '').check)).toEqual({ ...done, anchor: null, timestamp: null });
});

test('the sandbox gives every grade to test keys', async () => {
  const sandbox = await crowd(world, world.account.account_id, { test: true });
  const tested = async (body: object): Promise<CheckBody> =>
    (await sandbox().post('/v1/checks', body).expect(201)).body;
  const trader = { name: 'Sandbox Trader PL102', city: 'Testville' };
  const requester_vat_number = 'DE123456788';
  const grades: [EvidenceGrade, object][] = [
    ['none', { vat_number: 'PL200' }],
    ['basic', { vat_number: 'PL101' }],
    ['named', { vat_number: 'PL100' }],
    ['named', { vat_number: 'PL103' }],
    ['corroborated', { vat_number: 'PL102' }],
    ['corroborated', { vat_number: 'PL102', requester_vat_number, trader: { ...trader, city: 'Elsewhere' } }],
    ['qualified', { vat_number: 'PL102', requester_vat_number, trader }],
  ];
  for (const [grade, body] of grades) expect([body, (await tested(body)).evidence_grade]).toEqual([body, grade]);
  const made = await tested({ vat_number: 'PL102', requester_vat_number, trader });
  expect(checkSchema.parse(made)).toEqual(made);
  expect(made).toMatchObject({ test: true, match: { score: 100 } });
  expect(made.checks.map(({ source }) => source)).toEqual(['syntax', 'vies', 'pl_white_list', 'de_evatr']);
  expect(made.checks.at(-1)?.facts?.matches).toEqual({ name: 'A', street: 'C', postal_code: 'C', city: 'A' });
});

test('checks of earlier releases are served with their own bytes and verify beside new ones', async () => {
  const account = await world.newAccount();
  const http = world.http(account.live_key);
  for (const { id, text, sha256 } of await insertEarlierChecks(world, account)) {
    const { body } = await http.get(`/v1/checks/${id}`).expect(200);
    expect(checkSchema.parse(body)).toEqual(body);
    expect(body.response_hash).toBe(`sha256:${sha256}`);
    const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...recorded } = body;
    expect(canonicalText(recorded)).toBe(text);
    expect((await http.get(`/v1/checks/${id}/evidence`).expect(200)).text).toBe(text);
    const pdf = await http.get(`/v1/checks/${id}/certificate.pdf`).expect(200);
    expect(pdf.headers['content-type']).toBe('application/pdf');
  }
  await http.post('/v1/checks', { vat_number: 'FR40303265045', trader: { name: 'Acme' } }).expect(201);
  const zip = await fetch(`${world.baseUrl()}/v1/exports/dossier.zip`, {
    headers: { authorization: `Bearer ${account.live_key}` },
  });
  const run = await provideAuditorTools();
  const folder = await unpackDossier(run, Readable.from([Buffer.from(await zip.arrayBuffer())]));
  const verified = await run('python3', [path.join(folder, 'verify.py')]);
  const table = await readFile(path.join(folder, 'checks.csv'), 'utf8');
  await rm(folder, { recursive: true, force: true });
  expect(verified).toMatchObject({ code: 0, output: expect.stringContaining('ALL HOLDS') });
  expect(table).toMatch(/,evidence_grade\r?\n/);
  expect(table.match(/,named\r?\n/g)).toHaveLength(1);
});
