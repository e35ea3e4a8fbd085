import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { hashApiKey, newUuid, uuidOf } from '@vat/domain';
import {
  authorityExtensions,
  certificatePem,
  createDevelopmentAuthority,
  issueCertificate,
  privateKeyPem,
  requestTimestamp,
  unitExtensions,
} from '@vat/evidence/proof';
import {
  insertAccount,
  insertChecks,
  numberOf,
  provideAuditorTools,
  type RunTool,
  startWorld,
  type TestAccount,
  type TestProcess,
  unpackDossier,
  until,
  type World,
} from '@vat/testkit';

const PATH = '/v1/exports/dossier.zip';
/** See docs/evidence.md. */
const FREED_WITHIN_MS = 15_000;

let world: World;
let run: RunTool;
const folders: string[] = [];
beforeAll(async () => {
  [world, run] = await Promise.all([startWorld({ apis: 2, workers: 0 }), provideAuditorTools()]);
  await world.startWorker({ WORKER_QUEUES: 'checks,batches,watches,webhooks,maintenance' });
});
afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  await world?.stop();
});

/** Begins an export without reading it. */
const begin = async (account: TestAccount, api = world.apis[0], query = ''): Promise<IncomingMessage> => {
  const request = get(`${String(api?.ready.base_url)}${PATH}${query}`, {
    headers: { authorization: `Bearer ${account.live_key}` },
  });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
};
const unpack = async (zip: Buffer): Promise<string> => {
  const folder = await unpackDossier(run, Readable.from([zip]));
  folders.push(folder);
  return folder;
};
const exported = async (account: TestAccount, query = ''): Promise<string> => {
  const response = await begin(account, world.apis[0], query);
  expect(response.statusCode).toBe(200);
  const folder = await unpack(await buffer(response));
  expect(response.headers['x-dossier-checks']).toBe(String((await manifestOf(folder)).counts.checks));
  return folder;
};
const verify = (folder: string) => run('python3', [path.join(folder, 'verify.py')]);
const manifestOf = async (folder: string) =>
  JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as {
    choice: Record<string, unknown>;
    counts: Record<string, number>;
  };
const statusOf = async (account: TestAccount, api: TestProcess | undefined): Promise<number> => {
  const response = await fetch(`${String(api?.ready.base_url)}${PATH}`, {
    headers: { authorization: `Bearer ${account.live_key}` },
  });
  await response.arrayBuffer();
  return response.status;
};
/** Four chunks of rows in 20 MB. */
const MUCH = { count: 100, exchanges: 4, answerBytes: 50_000 };
/** More than the sockets buffer, so that an export whose client reads nothing does not end. */
const insertMuch = (account: TestAccount) => insertChecks(world, { accountId: account.account_id, ...MUCH });

test('everything of an account verifies offline with what the dossier contains; a changed byte does not', async () => {
  const account = await insertAccount(world);
  const http = world.http(account.live_key);
  const check = async (body: Record<string, unknown>, key = account.live_key) =>
    (await world.http(key).post('/v1/checks', body).expect(201)).body as { id: string; request_id: string };
  const stamped = await check({ vat_number: 'PL5260001246', reference: 'R-1' });
  await http.post(`/v1/checks/${stamped.id}/timestamp`).expect(201);
  await check({ vat_number: 'DE12' });
  await check({ vat_number: 'DE136695976' }, account.test_key);
  await world.vies.state('IT', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
  const { body: waiting } = await http.post('/v1/checks', { vat_number: 'IT00743110157' }).expect(202);
  const closed = await world.admin('anchor', 'close');
  // Started only here: a worker closes an anchor when it starts, which would contain some of the checks before they are stamped.
  await world.startWorker({ WORKER_QUEUES: 'evidence' });
  await until(
    'the stamp of the anchor',
    async () => (await http.get(`/v1/anchors/${closed.anchor_id}.tsr`)).status === 200,
  );
  const later = await check({ vat_number: 'FR40303265045', reference: 'R-1' });
  const [watch] = await world.sql<{ id: string }>(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     VALUES ($1, $2, 'PL5260001246', 'PL', '5260001246', 'x', 'daily', 'paused', now(), now()) RETURNING id`,
    [newUuid(), uuidOf('account', account.account_id)],
  );
  await world.sql(
    `INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
     VALUES ($1, $2, 'name', '"=Old"', '"New"', $3, now())`,
    [newUuid(), watch?.id, uuidOf('check', stamped.id)],
  );

  const folder = await exported(account);
  const verified = await verify(folder);
  expect(verified.output).toContain('ALL HOLDS');
  expect(verified.code).toBe(0);
  expect((await manifestOf(folder)).counts).toEqual({
    ...{ checks: 3, valid: 2, invalid: 0, malformed: 1, exchanges: expect.any(Number), timestamps: 1 },
    ...{ anchors: 1, proofs: 2, requests: 1, watch_changes: 1 },
  });
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  expect(JSON.parse(await read(`requests/${waiting.request_id}/request.json`))).toMatchObject({
    status: 'pending',
    vat_number: 'IT00743110157',
    last_error: 'MS_UNAVAILABLE',
  });
  const attempts = await readdir(path.join(folder, 'requests', waiting.request_id));
  expect(attempts.filter((file) => file.endsWith('.response')).length).toBeGreaterThan(0);
  const { body: evidence } = await http.get(`/v1/checks/${later.id}/evidence`).expect(200);
  expect(JSON.parse(await read(`checks/${later.id}.json`))).toEqual(evidence);

  const changed = await mkdtemp(path.join(tmpdir(), 'vat-tampered-'));
  folders.push(changed);
  await cp(folder, changed, { recursive: true });
  const file = path.join(changed, 'checks', `${stamped.id}.json`);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('"valid":true', '"valid":false'));
  expect((await verify(changed)).code).not.toBe(0);
});

/** Time-stamps by an authority whose certificate expires at `to`. */
const stamperUntil = (to: Date) => {
  const from = new Date(Date.now() - 86_400_000);
  const far = { from, to: new Date(Date.now() + 86_400_000) };
  const root = issueCertificate({ subject: 'Root', issuer: null, ...far, extensions: authorityExtensions() });
  const unit = issueCertificate({ subject: 'Unit', issuer: root, from, to, extensions: unitExtensions() });
  const [certificate, rootPem] = [unit, root].map((holder) => certificatePem(holder.certificate)) as [string, string];
  const identity = { key: privateKeyPem(unit.key), certificate, root: rootPem };
  return async (data: Uint8Array, at: Date) => {
    const { reply: send } = await createDevelopmentAuthority({ identity, now: () => at });
    const digest = createHash('sha256').update(data).digest();
    return requestTimestamp({ send, now: () => at })(digest);
  };
};

test('a time-stamp whose certificate has expired holds by a later anchor, which the dossier contains', async () => {
  const [account, other] = [await insertAccount(world), await insertAccount(world)];
  const closeWith = async ({ live_key: key }: TestAccount) => {
    await world.http(key).post('/v1/checks', { vat_number: 'DE12' }).expect(201);
    const { anchor_id: id, seq } = await world.admin('anchor', 'close');
    const path = `/v1/anchors/${id}.tsr`;
    await until('the stamp of the anchor', async () => (await world.http(key).get(path)).status === 200);
    return Number(seq);
  };
  const first = await closeWith(account);
  const seqs = [first, await closeWith(other), await closeWith(other)];
  expect(seqs).toEqual([first, first + 1, first + 2]);
  // Time-stamps may be up to six minutes earlier than what they stamp, because clocks differ.
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const [expired, valid] = [stamperUntil(ago(60)), stamperUntil(new Date(Date.now() + 3_600_000))];
  const restamp = async (seq: number, stamp: ReturnType<typeof stamperUntil>, at: Date) => {
    const [row] = await world.sql<{ id: string; body: Buffer }>('SELECT id, body FROM anchor WHERE seq = $1', [seq]);
    const { tokenBytes, genTime, serial, authority } = await stamp(row?.body ?? Buffer.of(), at);
    await world.sql('UPDATE stamp SET token = $2, gen_time = $3, serial = $4, authority = $5 WHERE subject_id = $1', [
      ...[row?.id, Buffer.from(tokenBytes), genTime, serial, authority],
    ]);
  };
  await restamp(first, expired, ago(120));
  await restamp(first + 1, expired, ago(119));
  await restamp(first + 2, valid, ago(90));

  const folder = await exported(account);
  expect((await readdir(path.join(folder, 'anchors'))).sort()).toEqual(
    [`${first}.json`, `${first}.tsr`, `${first + 2}.json`, `${first + 2}.tsr`, `links-${first + 1}.jsonl`].sort(),
  );
  const verified = await verify(folder);
  expect(verified).toEqual({ code: 0, output: expect.stringContaining('ALL HOLDS') });
  expect(verified.output).toMatch(`(anchors/${first}.tsr) hold: anchor ${first + 2}, which contains their hashes,`);
  const { renewed } = await world.admin('anchor', 'verify');
  expect(renewed).toEqual([
    expect.objectContaining({ first_seq: first, last_seq: first + 1, anchors: 2, by_seq: first + 2 }),
  ]);

  await restamp(first + 2, valid, ago(30));
  const late = await verify(await exported(account));
  expect(late).toEqual({ code: 1, output: expect.stringContaining(`anchors/${first}.tsr expired on`) });
});

test('one export at a time over all processes; it is free again when the client disconnects or has received everything', async () => {
  const account = await insertAccount(world);
  await insertMuch(account);
  const [one, other] = world.apis;
  const running = await begin(account, one);
  expect(running.headers['content-type']).toBe('application/zip');
  expect(running.headers['content-disposition']).toMatch(/^attachment; filename=vat-dossier-\S+Z\.zip$/);
  for (const api of [one, other]) {
    const { status, body } = await world.http(account.live_key).get(PATH);
    expect([api && status, body.error?.code]).toEqual([409, 'EXPORT_IN_PROGRESS']);
    expect(await statusOf(account, api)).toBe(409);
  }
  const stranger = await insertAccount(world);
  expect(await statusOf(stranger, other)).toBe(200);

  running.destroy();
  const goneAt = performance.now();
  const next = await until(
    'the export to be free',
    async () => {
      const response = await begin(account, other);
      return response.statusCode === 200 ? response : void response.resume();
    },
    FREED_WITHIN_MS,
  );
  expect(performance.now() - goneAt).toBeLessThan(FREED_WITHIN_MS);
  await buffer(next);
  expect(await statusOf(account, one)).toBe(200);
});

test('evidence that is recorded or anchored during the export is not in it, and its contents are consistent', async () => {
  const account = await insertAccount(world);
  await insertMuch(account);
  const running = await begin(account);
  const { body: late } = await world
    .http(account.live_key)
    .post('/v1/checks', { vat_number: 'FR40303265045' })
    .expect(201);
  await world.admin('anchor', 'close');
  const folder = await unpack(await buffer(running));
  const { code, output } = await verify(folder);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect((await manifestOf(folder)).counts).toMatchObject({ checks: MUCH.count, anchors: 0, proofs: 0 });
  expect(await readdir(path.join(folder, 'checks'))).not.toContain(`${late.id}.json`);
});

/** The status with which a request is recorded: 200 was sent when it failed later. */
const loggedStatus = async (id: string): Promise<number> => {
  const line = await until('its log line', () =>
    world.apis[0]?.lines().find((text) => text.includes('Answered a request.') && text.includes(id)),
  );
  return (JSON.parse(line) as { status: number }).status;
};

test('an error in the middle closes the connection, and the account can export again', async () => {
  const account = await insertAccount(world);
  const ids = await insertMuch(account);
  const running = await begin(account);
  await world.sql('DELETE FROM "check" WHERE id = $1', [ids.at(-1)]);
  await expect(buffer(running)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(running.complete).toBe(false);
  expect(await statusOf(account, world.apis[1])).toBe(200);
  const failure = world.apis[0]?.lines().find((line) => line.includes('evidence was deleted during the export'));
  expect(failure).toBeDefined();
  expect(await loggedStatus(String(running.headers['x-request-id']))).toBe(500);
});

test('an export ends when its key is revoked, and the log says why', async () => {
  const account = await insertAccount(world);
  await insertMuch(account);
  const running = await begin(account);
  expect(running.statusCode).toBe(200);
  await world.sql('UPDATE api_key SET revoked_at = now() WHERE hash = $1', [hashApiKey(account.live_key)]);
  const id = String(running.headers['x-request-id']);
  const written = await until('the log line', () =>
    world.apis[0]?.lines().find((line) => line.includes('ended early') && line.includes(id)),
  );
  expect(JSON.parse(written)).toMatchObject({ level: 'warn', code: 'UNAUTHORIZED' });
  expect(await loggedStatus(id)).toBe(401);
  await expect(buffer(running)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('a coverage that is deleted during its download closes the connection, and the log says why', async () => {
  const account = await insertAccount(world);
  await insertMuch(account);
  const date = new Date().toISOString().slice(0, 10);
  const lines = Array.from({ length: MUCH.count }, (_, n) => `${numberOf('FR', n)},${date}`);
  const { body } = await world
    .http(account.live_key)
    .post('/v1/coverage')
    .type('text/csv')
    .send(['vat_number,date', ...lines].join('\n'))
    .expect(201);
  const running = await begin(account, world.apis[0], `?coverage_id=${body.coverage_id}`);
  expect(running.statusCode).toBe(200);
  await world.sql('DELETE FROM coverage WHERE id = $1', [uuidOf('coverage', body.coverage_id)]);
  await expect(buffer(running)).rejects.toMatchObject({ code: 'ECONNRESET' });
  const id = String(running.headers['x-request-id']);
  const written = await until('the log line', () =>
    world.apis[0]?.lines().find((line) => line.includes('ended early') && line.includes(id)),
  );
  expect(JSON.parse(written)).toMatchObject({ level: 'warn', code: 'NOT_FOUND' });
  expect(await loggedStatus(id)).toBe(404);
});

// Each of the following has an account of its own. This one comes first, because it waits for the longest.
test.concurrent('when the process is killed, the export is free within 15 s, and not before its client can notice', async () => {
  const account = await insertAccount(world);
  await insertMuch(account);
  const doomed = await world.startApi({}, { ownProcess: true });
  const running = await begin(account, doomed);
  const cut = buffer(running).catch((error: NodeJS.ErrnoException) => error.code);
  expect(await statusOf(account, world.apis[0])).toBe(409);
  doomed.signal('SIGKILL');
  const killedAt = performance.now();
  expect(await cut).toBe('ECONNRESET');
  await until('the export to be free', async () => (await statusOf(account, world.apis[0])) === 200, FREED_WITHIN_MS);
  expect(performance.now() - killedAt).toBeLessThan(FREED_WITHIN_MS);
});

test.concurrent('the filters: from is inclusive, to is exclusive, a number may be in any spelling, and an empty choice is a dossier too', async () => {
  const account = await insertAccount(world);
  const from = new Date('2024-03-01T00:00:00.000Z');
  await insertChecks(world, { accountId: account.account_id, count: 10, from });
  const counted = async (query: string) => {
    const folder = await exported(account, query);
    const { code, output } = await verify(folder);
    expect({ code, output }).toMatchObject({ code: 0 });
    return manifestOf(folder);
  };
  const some = await counted('?from=2024-03-01T00:00:00.002Z&to=2024-03-01T00:00:00.005Z');
  expect(some.counts.checks).toBe(3);
  expect(some.choice).toEqual({
    ...{ from: '2024-03-01T00:00:00.002Z', to: '2024-03-01T00:00:00.005Z', vat_number: null, reference: null },
  });
  expect((await counted('?vat_number=fr%2010%20000%20000%20003')).counts.checks).toBe(1);
  expect((await counted('?reference=none')).counts).toMatchObject({ checks: 0, requests: 0, watch_changes: 0 });
});

test.concurrent('more than 10 000 checks are refused before the first byte; exactly 10 000 are accepted', async () => {
  const account = await insertAccount(world);
  const { accountId, count, exchanges } = { accountId: account.account_id, count: 10_000, exchanges: 0 };
  await insertChecks(world, { accountId, count, exchanges });
  const enough = await begin(account);
  expect(enough.statusCode).toBe(200);
  enough.destroy();
  await insertChecks(world, { accountId, count: 1, exchanges, from: new Date() });
  const { body } = await until('an answer', async () => {
    const answer = await world.http(account.live_key).get(PATH);
    return answer.status !== 409 && answer;
  });
  expect(body).toEqual({
    error: { code: 'EXPORT_TOO_LARGE', message: 'The export would hold more than 10 000 checks.' },
  });
  const narrowed = `${PATH}?to=${new Date(Date.now() - 60_000).toISOString()}`;
  const head = await world.http(account.live_key).method('head', narrowed).expect(200);
  expect(head.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': expect.stringMatching(/^attachment; filename=vat-dossier-[\dTZ-]+\.zip$/),
  });
});

test.concurrent('more than 10 000 requests without a check are refused too', async () => {
  const account = await insertAccount(world);
  await world.sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries,
       created_at, window_ends_at, due_at, ended_at)
     SELECT id, $1, false, 'withdrawn', 'DE1', 'DE', '1', 'DE1', '[]', now(), now(), now(), now()
     FROM unnest($2::uuid[]) AS id`,
    [uuidOf('account', account.account_id), Array.from({ length: 10_001 }, newUuid)],
  );
  const { body } = await world.http(account.live_key).get(PATH).expect(400);
  expect(body.error).toEqual({
    code: 'EXPORT_TOO_LARGE',
    message: 'The export would hold more than 10 000 requests without a check.',
  });
});

test.concurrent('an export needs a live key, refuses unknown parameters, and works for a disabled account', async () => {
  const { body } = await world.http(world.account.test_key).get(`${PATH}?surplus=1`).expect(403);
  expect(body.error.code).toBe('TEST_KEY_NOT_ALLOWED');
  await world.http().get(`${PATH}?surplus=1`).expect(400);
  await world.http().get(`${PATH}?from=yesterday`).expect(400);
  const account = await insertAccount(world);
  await world.admin('account', 'disable', account.account_id);
  expect(await statusOf(account, world.apis[0])).toBe(200);
});
