import { createHash } from 'node:crypto';
import { newUuid, publicId, uuidOf } from '@vat/domain';
import {
  canonicalForm,
  makeDevelopmentIdentity,
  readVerifierProgram,
  verifyInclusion,
  verifyTimestamp,
} from '@vat/evidence';
import { createTestTsa, runAuthority, startWorld, until, type World } from '@vat/testkit';
import { getDocumentProxy } from 'unpdf';

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest();
const bytesOf = (world: World, key: string, path: string) => world.http(key).get(path).responseType('blob');

let world: World;
let live: string;
beforeAll(async () => {
  world = await startWorld();
  live = world.account.live_key;
});
afterAll(() => world?.stop());

const newCheck = async (number: string, key = live): Promise<Record<string, unknown> & { id: string }> =>
  (await world.http(key).post('/v1/checks', { vat_number: number }).expect(201)).body;

/** A worker closes an anchor when it starts, which can be after a test has made its check. */
const withoutAnchor = ({ anchor, ...rest }: Record<string, unknown>) => rest;

describe('time-stamps', () => {
  test('stamp the hashed bytes while the caller waits, once per check, and appear in it without changing its hash', async () => {
    const check = await newCheck('DE136695976');
    const path = `/v1/checks/${check.id}`;
    await world.http().get(`${path}/timestamp`).expect(404);
    await world.http().get(`${path}/timestamp.tsr`).expect(404);

    const made = await world.http().post(`${path}/timestamp`).expect(201);
    expect(made.headers.location).toBe(`${world.baseUrl()}${path}/timestamp`);
    expect(made.body).toEqual({
      object: 'timestamp',
      check_id: check.id,
      requested_at: expect.stringMatching(/Z$/),
      status: 'stamped',
      gen_time: expect.stringMatching(/Z$/),
      accuracy_ms: expect.any(Number),
      serial: expect.stringMatching(/^[0-9a-f]+$/),
      policy: expect.any(String),
      authority: expect.stringContaining('evelopment'),
      development: true,
    });
    expect((await world.http().get(`${path}/timestamp`).expect(200)).body).toEqual(made.body);
    expect((await world.http().post(`${path}/timestamp`).expect(200)).body).toEqual(made.body);

    const token = await bytesOf(world, live, `${path}/timestamp.tsr`).expect(200);
    expect(token.headers['content-type']).toBe('application/timestamp-reply');
    const { body: evidence } = await bytesOf(world, live, `${path}/evidence`).expect(200);
    const facts = verifyTimestamp({ tokenBytes: token.body, digest: sha256(evidence) });
    expect(facts.genTime.toISOString()).toBe(made.body.gen_time);

    const { object, check_id, requested_at, status, ...shown } = made.body;
    const { body: later } = await world.http().get(path).expect(200);
    expect(withoutAnchor(later)).toEqual({ ...withoutAnchor(check), timestamp: shown });
    const { response_hash, timestamp, anchor, ...hashed } = later;
    expect(response_hash).toBe(`sha256:${sha256(canonicalForm(hashed)).toString('hex')}`);
    const { body: list } = await world.http().get(`/v1/checks?vat_number=DE136695976`).expect(200);
    expect(list.data.map(withoutAnchor)).toEqual([withoutAnchor(later)]);
    const { body: request } = await world.http().get(`/v1/requests/${check.request_id}`).expect(200);
    expect(withoutAnchor(request.check)).toEqual(withoutAnchor(later));
  });

  test('accept only an empty body: any other is BAD_REQUEST, also with an Idempotency-Key that was used', async () => {
    const check = await newCheck('DE100000009');
    const stamp = (body: string, type = 'application/json') =>
      world
        .http()
        .post(`/v1/checks/${check.id}/timestamp`)
        .set('Content-Type', type)
        .set('Idempotency-Key', 'no-body')
        .send(body);
    for (const body of ['{', '[]', '{"surprise":1}', 'x'.repeat(64 * 1024 + 1)])
      expect((await stamp(body)).body.error?.code).toBe('BAD_REQUEST');
    expect((await stamp('{}', 'text/plain')).body.error?.code).toBe('BAD_REQUEST');
    const { body } = await stamp('{}').expect(201);
    expect((await stamp('')).body).toEqual(body);
    expect((await stamp('{"surprise":1}')).body.error.code).toBe('BAD_REQUEST');
  });

  test('are replayed for an Idempotency-Key, byte for byte, and another call with it is a mismatch', async () => {
    const [one, two] = [await newCheck('DE100000001'), await newCheck('DE100000002')];
    const stamp = (id: string) => world.http().post(`/v1/checks/${id}/timestamp`).set('Idempotency-Key', 'stamp-1');
    const answers = await Promise.all(Array.from({ length: 10 }, () => stamp(one.id)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const { status, body } of answers)
      if (status === 201) expect(body).toEqual(made[0]?.body);
      else expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect(made.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    const again = await stamp(one.id).expect(201);
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([made[0]?.text, 'true']);
    await stamp(two.id).expect(422);
    await world.http().get(`/v1/checks/${two.id}/timestamp`).expect(404);
  });

  test('need a live key, a check of the account, and an account that is not disabled', async () => {
    const mine = await newCheck('DE100000003');
    const sandboxed = await newCheck('DE100000003', world.account.test_key);
    const stranger = await world.newAccount();
    const path = `/v1/checks/${mine.id}`;
    for (const id of [mine.id, publicId('check', newUuid()), 'nonsense']) {
      const calls = [
        world.http(world.account.test_key).post(`/v1/checks/${id}/timestamp`),
        world.http(world.account.test_key).get(`/v1/checks/${id}/timestamp`),
        world.http(world.account.test_key).get(`/v1/checks/${id}/timestamp.tsr`),
        world.http(world.account.test_key).get(`/v1/checks/${id}/anchor`),
      ];
      for (const call of calls) expect((await call.expect(403)).body.error.code).toBe('TEST_KEY_NOT_ALLOWED');
      const key = id === mine.id ? stranger.live_key : live;
      for (const call of [
        world.http(key).post(`/v1/checks/${id}/timestamp`),
        world.http(key).get(`/v1/checks/${id}/timestamp`),
        world.http(key).get(`/v1/checks/${id}/timestamp.tsr`),
        world.http(key).get(`/v1/checks/${id}/anchor`),
        world.http(key).get(`/v1/checks/${id}/certificate.pdf`),
      ])
        expect((await call.expect(404)).body.error.code).toBe('NOT_FOUND');
    }
    await world.http().post(`/v1/checks/${sandboxed.id}/timestamp`).expect(404);
    expect(await world.sql('SELECT 1 FROM stamp WHERE account_id <> (SELECT account_id FROM "check" LIMIT 1)')).toEqual(
      [],
    );

    const theirs = await newCheck('DE100000004', stranger.live_key);
    await world.http(stranger.live_key).post(`/v1/checks/${theirs.id}/timestamp`).expect(201);
    await world.admin('account', 'disable', stranger.account_id);
    await until('the account to be disabled', async () => {
      const { status } = await world.http(stranger.live_key).post(`${path}/timestamp`);
      return status === 403;
    });
    const { body } = await world.http(stranger.live_key).post(`/v1/checks/${theirs.id}/timestamp`).expect(403);
    expect(body.error.code).toBe('ACCOUNT_DISABLED');
    await world.http(stranger.live_key).get(`/v1/checks/${theirs.id}/timestamp`).expect(200);
  });

  test('need TLS or configured roots of the authority: a process does not start otherwise', async () => {
    await expect(world.startApi({ TSA_URL: 'http://127.0.0.1:9/tsa' }, { ownProcess: true })).rejects.toThrow(
      'TSA_ROOTS: certificates are required, because TSA_URL is not an https address.',
    );
  });

  test('are pinned to the root of the first one: another root is refused and logged until the pin is removed', async () => {
    const tsa = await createTestTsa(runAuthority());
    await tsa.open();
    const url = tsa.url.replace('//', '//user:secret@');
    try {
      const api = await world.startApi({ TSA_URL: url });
      const stamp = async (number: string) => {
        const { id } = await newCheck(number);
        const path = `${String(api.ready.base_url)}/v1/checks/${id}/timestamp`;
        const answer = await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${live}` } });
        return [answer.status, ((await answer.json()) as { last_error?: string }).last_error];
      };
      const alarms = () => api.lines().filter((line) => line.includes('presents a root other than the pinned one'));
      expect(await stamp('DE100000021')).toEqual([201, undefined]);
      expect(await stamp('DE100000022')).toEqual([201, undefined]);
      expect(alarms()).toEqual([]);

      await tsa.changeRoot();
      expect(await stamp('DE100000023')).toEqual([202, 'other_root']);
      const [alarm = ''] = alarms();
      const address = tsa.url;
      const { data } = await world.admin('tsa-root', 'list');
      const pinned = { tsa_url: address, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
      expect(data).toEqual([{ ...pinned, subject: expect.any(String), pinned_at: expect.stringMatching(/Z$/) }]);
      const [{ sha256: known }] = data as [{ sha256: string }];
      expect(JSON.parse(alarm)).toMatchObject({ level: 'error', tsa_url: address, pinned: known });

      expect(await world.admin('tsa-root', 'forget', address)).toEqual({ tsa_url: address, forgotten: true });
      expect(await stamp('DE100000024')).toEqual([201, undefined]);
      await api.stop();
    } finally {
      await tsa.close();
    }
  });

  test('that no authority has issued yet are 202 and pending', async () => {
    const { root } = await makeDevelopmentIdentity(new Date());
    const api = await world.startApi({ TSA_URL: 'http://127.0.0.1:9/tsa', TSA_ROOTS: root });
    const check = await newCheck('DE100000005');
    const call = (method: string) =>
      fetch(`${String(api.ready.base_url)}/v1/checks/${check.id}/timestamp`, {
        method,
        headers: { authorization: `Bearer ${live}`, ...(method === 'POST' && { 'idempotency-key': 'later' }) },
      });
    const promised = await call('POST');
    expect(promised.status).toBe(202);
    expect(promised.headers.get('retry-after')).toBe('10');
    const text = await promised.text();
    expect(JSON.parse(text)).toEqual({
      object: 'timestamp',
      check_id: check.id,
      requested_at: expect.stringMatching(/Z$/),
      status: 'pending',
      attempts: 1,
      next_attempt_at: expect.stringMatching(/Z$/),
      last_error: 'unreachable',
    });
    expect(await (await call('POST')).text()).toBe(text);
    const [row] = await world.sql<{ error: string }>('SELECT last_error AS error FROM stamp WHERE subject_id = $1', [
      uuidOf('check', check.id),
    ]);
    expect(row?.error).toMatch(/^unreachable: /);
    await api.stop();
  });
});

describe('anchors', () => {
  test('contain every live check; a proof reveals nothing about the accounts of the others', async () => {
    await world.admin('anchor', 'close');
    const stranger = await world.newAccount();
    const before = (await world.http().get('/v1/anchors').expect(200)).body.data.length;
    const check = await newCheck('DE100000006');
    await newCheck('DE100000007', stranger.live_key);
    expect((await world.http().get(`/v1/checks/${check.id}/anchor`).expect(404)).body.error.message).toBe(
      'The check is not in an anchor yet.',
    );
    const closed = await world.admin('anchor', 'close');
    await newCheck('DE100000008');
    const next = await world.admin('anchor', 'close');

    const { body: page } = await world.http().get('/v1/anchors?limit=1').expect(200);
    expect(page.data.map((one: Record<string, unknown>) => one.anchor_id)).toEqual([next.anchor_id]);
    const { body: rest } = await world.http().get(`/v1/anchors?cursor=${page.next_cursor}`).expect(200);
    expect(rest.data).toHaveLength(before + 1);
    const [second] = rest.data;
    expect(second).toEqual({
      anchor_id: closed.anchor_id,
      v: 1,
      seq: closed.seq,
      alg: 'rfc9162-sha256',
      closed_at: closed.closed_at,
      tree_size: 2,
      root: closed.root,
      prev_anchor_hash: closed.prev_anchor_hash,
    });
    const { body: theirs } = await world.http(stranger.live_key).get(`/v1/anchors/${closed.anchor_id}`).expect(200);
    expect(theirs).toEqual(second);
    const { anchor_id: anchorId, ...seven } = second;
    expect(page.data[0].prev_anchor_hash).toBe(sha256(canonicalForm(seven)).toString('hex'));

    const { body: proof } = await world.http().get(`/v1/checks/${check.id}/anchor`).expect(200);
    expect(proof).toEqual({
      anchor_id: anchorId,
      leaf_index: 0,
      tree_size: 2,
      path: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    const holds = verifyInclusion({
      leaf: Buffer.from(String(check.response_hash).slice(7), 'hex'),
      index: proof.leaf_index,
      size: proof.tree_size,
      path: proof.path.map((node: string) => Buffer.from(node, 'hex')),
      root: Buffer.from(second.root, 'hex'),
    });
    expect(holds).toBe(true);
    await world.http(stranger.live_key).get(`/v1/checks/${check.id}/anchor`).expect(404);
    const { body: shown } = await world.http().get(`/v1/checks/${check.id}`).expect(200);
    expect(shown).toEqual({
      ...check,
      anchor: { anchor_id: anchorId, seq: closed.seq, leaf_index: 0, tree_size: 2 },
    });

    const token = await until('the stamp', async () => {
      const answer = await bytesOf(world, live, `/v1/anchors/${anchorId}.tsr`);
      return answer.status === 200 && answer;
    });
    expect(token.headers['content-type']).toBe('application/timestamp-reply');
    expect(verifyTimestamp({ tokenBytes: token.body, digest: sha256(canonicalForm(seven)) }).development).toBe(true);
  });

  test('say that they have no time-stamp yet while the authority is away', async () => {
    await newCheck('DE100000017');
    const closed = await world.admin('anchor', 'close');
    await world.sql('DELETE FROM stamp WHERE subject_id = $1', [uuidOf('anchor', String(closed.anchor_id))]);
    const { body } = await world.http().get(`/v1/anchors/${closed.anchor_id}.tsr`).expect(404);
    expect(body.error).toMatchObject({ code: 'NOT_FOUND', message: 'The anchor has no time-stamp yet.' });
  });

  test('need a live key; an unknown one is 404, and a cursor of another list is refused', async () => {
    const nobody = publicId('anchor', newUuid());
    for (const path of ['/v1/anchors', `/v1/anchors/${nobody}`, `/v1/anchors/${nobody}.tsr`])
      expect((await world.http(world.account.test_key).get(path).expect(403)).body.error.code).toBe(
        'TEST_KEY_NOT_ALLOWED',
      );
    for (const path of [`/v1/anchors/${nobody}`, `/v1/anchors/${nobody}.tsr`, '/v1/anchors/x', '/v1/anchors/x.tsr'])
      expect((await world.http().get(path).expect(404)).body.error.code).toBe('NOT_FOUND');
    await newCheck('DE100000009');
    const { body: checks } = await world.http().get('/v1/checks?limit=1').expect(200);
    const { body } = await world.http().get(`/v1/anchors?cursor=${checks.next_cursor}`).expect(400);
    expect(body.error.fields).toEqual([{ path: 'cursor', message: expect.any(String) }]);
  });
});

/** What a PDF reader finds. */
const readPdf = async (
  bytes: Uint8Array,
): Promise<{ pages: number; text: string; attachments: Record<string, { content: Uint8Array }> }> => {
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { items } = await (await document.getPage(1)).getTextContent();
  const pages = document.numPages;
  const attachments = await document.getAttachments();
  await document.destroy();
  const text = items.map((item) => ('str' in item ? item.str : '')).join(' ');
  return { pages, text: text.replace(/\s+/g, ' '), attachments };
};

describe('the verifier of dossiers', () => {
  test('is public with its SHA-256, and may be cached', async () => {
    const { body, headers } = await world.http(null).get('/verifier').expect(200);
    const file = await bytesOf(world, '', '/verifier/verify.py').expect(200);
    const program = await readVerifierProgram();
    expect(Buffer.compare(file.body, Buffer.from(program.bytes))).toBe(0);
    expect(body).toEqual({
      object: 'verifier',
      file_name: 'verify.py',
      sha256: sha256(file.body).toString('hex'),
      size: file.body.length,
      url: `${world.baseUrl()}/verifier/verify.py`,
    });
    expect(headers['cache-control']).toBe('public, max-age=60');
    expect(file.headers).toMatchObject({
      'cache-control': 'public, max-age=60',
      'content-disposition': 'attachment; filename=verify.py',
      'content-type': 'text/x-python; charset=utf-8',
      etag: `"${body.sha256}"`,
    });
    await world.http(null).get('/verifier/verify.py').set('If-None-Match', `"${body.sha256}"`).expect(304);
  });
});

describe('certificates', () => {
  test.each([
    ['EL123456783', 'ΚΑΦΕΝΕΙΟ «Ο ΉΛΙΟΣ» Α.Ε.'],
    ['PL5260001246', 'Żółć i Gęśl Jaźń Sp. z o.o.'],
    ['BG123456788', 'Щастливият жътвар ЕООД'],
  ])('of %s have one page with the name as it is written', async (number, name) => {
    await world.vies.script(number, [{ kind: 'valid', name, address: 'Somewhere 1' }]);
    const check = await newCheck(number);
    const page = await bytesOf(world, live, `/v1/checks/${check.id}/certificate.pdf`).expect(200);
    expect(page.headers['content-type']).toBe('application/pdf');
    expect(page.headers['content-disposition']).toBe(`inline; filename=${check.id}.pdf`);
    const { pages, text } = await readPdf(page.body);
    expect(pages).toBe(1);
    for (const part of [`${number} VALID`, name, String(check.response_hash), check.id, 'not anchored yet'])
      expect(text).toContain(part);
  });

  test('name the time-stamp and the anchor once they exist, and those of test checks are marked', async () => {
    const check = await newCheck('DE100000010');
    await world.http().post(`/v1/checks/${check.id}/timestamp`).expect(201);
    const anchor = await world.admin('anchor', 'close');
    const { body } = await bytesOf(world, live, `/v1/checks/${check.id}/certificate.pdf`).expect(200);
    const { text, attachments } = await readPdf(body);
    const contentOf = (name: string) => Buffer.from(attachments[name]?.content ?? []);
    const { body: record } = await bytesOf(world, live, `/v1/checks/${check.id}/evidence`).expect(200);
    const { body: token } = await bytesOf(world, live, `/v1/checks/${check.id}/timestamp.tsr`).expect(200);
    const { body: proof } = await world.http().get(`/v1/checks/${check.id}/anchor`).expect(200);
    const { body: published } = await world.http().get(`/v1/anchors/${anchor.anchor_id}`).expect(200);
    expect([contentOf('check.json').equals(record), contentOf('check.tsr').equals(token)]).toEqual([true, true]);
    expect(JSON.parse(String(contentOf('proof.json')))).toEqual(proof);
    const { anchor_id: _, ...hashed } = published;
    expect(JSON.parse(String(contentOf('anchor.json')))).toEqual(hashed);
    for (const part of [String(anchor.anchor_id), String(anchor.root), 'A development authority: worth nothing'])
      expect(text).toContain(part);

    const key = world.account.test_key;
    const sandboxed = await newCheck('DE100', key);
    const marked = await bytesOf(world, key, `/v1/checks/${sandboxed.id}/certificate.pdf`).expect(200);
    expect((await readPdf(marked.body)).text).toContain('TEST');
  });

  test('are made in the language of `lang`, and another language is refused with those that there are', async () => {
    const check = await newCheck('DE100000012');
    const path = `/v1/checks/${check.id}/certificate.pdf`;
    const { body } = await bytesOf(world, live, `${path}?lang=de`).expect(200);
    const { text } = await readPdf(body);
    for (const part of ['Prüfung einer Umsatzsteuer-Identifikationsnummer', 'GÜLTIG', String(check.response_hash)])
      expect(text).toContain(part);
    const { body: link } = await world.http().get(`/v1/checks/${check.id}/link`).expect(200);
    expect(text.replaceAll(' ', '')).toContain(link.url);
    for (const query of ['lang=pt', 'lang=', 'lang=de&lang=fr']) {
      const { body: refused } = await world.http().get(`${path}?${query}`).expect(400);
      expect(refused.error).toMatchObject({ code: 'BAD_REQUEST', fields: [{ path: 'lang' }] });
      if (query === 'lang=pt') expect(refused.error.message).toBe('lang must be en, de, fr, it, es, pl or nl.');
    }
  });

  test('of one account are drawn one at a time, and too many at once are 429 with Retry-After', async () => {
    const check = await newCheck('DE100000011');
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => world.http().get(`/v1/checks/${check.id}/certificate.pdf`)),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(20);
    expect(refused.length).toBeGreaterThan(0);
    for (const { body, headers } of refused)
      expect([body.error.code, body.error.retry_after, headers['retry-after']]).toEqual(['RATE_LIMITED', 1, '1']);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  });
});
