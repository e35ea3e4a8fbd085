import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { hashApiKey, uuidOf } from '@vat/domain';
import { insertAccount, issueKeys, startWorld, until, uploadBatch, type World } from '@vat/testkit';
import { openRaw, type RawConnection } from './raw-connection.fixture.js';

const MIB = 1024 * 1024;
const MAX_FILE = 2 * MIB;

let world: World;
let key: string;
beforeAll(async () => {
  world = await startWorld({ ownProcesses: true, workers: 0 });
});
beforeEach(async () => {
  key = (await insertAccount(world)).live_key;
});
afterAll(() => world?.stop());

/** A file of the given size with few rows. */
const fileOf = (bytes: number): Buffer => {
  const row = `DE136695976,${'x'.repeat(1_000)}\n`;
  const head = `vat_number,note\n${row.repeat(Math.floor((bytes - 100) / row.length))}DE136695976,`;
  return Buffer.from(head + 'y'.repeat(bytes - head.length));
};
const form = (file: Uint8Array): FormData => {
  const made = new FormData();
  made.append('file', new Blob([new Uint8Array(file)]), 'big.csv');
  return made;
};
const sendForm = async (file: Uint8Array) => {
  const response = await fetch(`${world.baseUrl()}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form(file),
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};
/** Memory of the API process in MiB. */
const memory = (): number => {
  const status = readFileSync(`/proc/${String(world.apis[0]?.pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
};
/** An endless stream up to `most` bytes; counts the bytes that were read. */
const endless = (most: number) => {
  const chunk = new Uint8Array(64 * 1024).fill(120);
  const counted = { sent: 0 };
  const body = new ReadableStream({
    pull: (controller) => {
      if (counted.sent >= most) return controller.close();
      counted.sent += chunk.length;
      controller.enqueue(chunk);
    },
  });
  return { body, counted };
};
const stream = async (most: number, type = 'text/csv', headers: Record<string, string> = {}) => {
  const { body, counted } = endless(most);
  const init = {
    method: 'POST',
    duplex: 'half',
    body,
    headers: { authorization: `Bearer ${key}`, 'content-type': type, ...headers },
  };
  const response = await fetch(`${world.baseUrl()}/v1/batches`, init as RequestInit);
  const text = await response.text();
  return { status: response.status, code: (JSON.parse(text) as { error: { code: string } }).error.code, ...counted };
};

const open = (): Promise<RawConnection> => openRaw(world.baseUrl());
const head = (...lines: string[]) =>
  `${['POST /v1/batches HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, ...lines].join('\r\n')}\r\n\r\n`;

test('a file of exactly 2 MiB is accepted, and one byte more is not, however it is sent', async () => {
  const [whole, over] = [fileOf(MAX_FILE), fileOf(MAX_FILE + 1)];
  expect([whole.length, over.length]).toEqual([MAX_FILE, MAX_FILE + 1]);
  expect((await uploadBatch(world, whole, { key })).status).toBe(201);
  expect((await sendForm(whole)).status).toBe(201);
  const refused = [await uploadBatch(world, over, { key }), await sendForm(over)];
  for (const { status, body } of refused) {
    expect([status, body.error]).toEqual([413, { code: 'FILE_TOO_LARGE', message: expect.any(String) }]);
  }
  // Without a declared length the bytes are counted.
  expect(await stream(MAX_FILE + 1)).toMatchObject({ status: 413, code: 'FILE_TOO_LARGE' });
});

test.each<[string, string, string, string]>([
  ['its number', 'vat_number,note\n', '1', ',x\n'],
  ['its reference', 'vat_number,reference\nDE136695976,', 'x', '\n'],
  ['a quoted cell with line breaks', 'vat_number,note\nDE136695976,"', 'Straße 8\n', '"\n'],
  ['its header', 'vat_number,"', 'Straße 8,', '"\nDE136695976,x\n'],
])('a file of exactly 2 MiB may be one cell: %s', async (_what, front, piece, end) => {
  const room = MAX_FILE - Buffer.byteLength(front + end);
  const cell = piece.repeat(Math.floor(room / Buffer.byteLength(piece)));
  const file = Buffer.from(front + cell + end + '\n'.repeat(room - Buffer.byteLength(cell)));
  expect(file).toHaveLength(MAX_FILE);
  const { status, body } = await uploadBatch(world, file, { key });
  expect([status, body]).toEqual([201, expect.objectContaining({ total: 1 })]);
  const lines = await world.http(key).get(`/v1/batches/${body.batch_id}/lines`).expect(200);
  expect(lines.body.data).toHaveLength(1);
  const results = await world.http(key).get(`/v1/batches/${body.batch_id}/results.csv`).expect(200);
  expect(results.text).toContain(cell);
});

test('a form that is large apart from its file is refused too', async () => {
  const { send, text, close } = await open();
  send(head('Content-Type: multipart/form-data; boundary=X', 'Transfer-Encoding: chunked'));
  const chunk = `10000\r\n${'p'.repeat(65_536)}\r\n`;
  send(chunk.repeat(40));
  await until('the refusal', () => text().includes('FILE_TOO_LARGE'));
  close();
});

test('clients that stream a gigabyte get 413 while they send, and the memory of the process does not grow', async () => {
  await stream(8 * MIB);
  const before = memory();
  const answers = await Promise.all([
    stream(1024 * MIB),
    stream(256 * MIB),
    stream(256 * MIB, 'multipart/form-data; boundary=X'),
    sendForm(Buffer.alloc(64 * MIB, 120)).then(({ status, body }) => ({ status, code: body.error?.code, sent: 0 })),
  ]);
  for (const { status, code, sent } of answers) {
    expect([status, code]).toEqual([413, 'FILE_TOO_LARGE']);
    // The bytes that are read and dropped, and those that the system buffers on both sides.
    expect(sent).toBeLessThan(64 * MIB);
  }
  expect(memory() - before).toBeLessThan(50);
});

test('a file in chunks of one byte needs no more memory than in large ones', async () => {
  const { send, text, close } = await open();
  const before = memory();
  send(head('Content-Type: text/csv', 'Transfer-Encoding: chunked'));
  const file = `vat_number,note\nDE136695976,${'x'.repeat(30_000)}\n${'\n'.repeat(270_000)}`;
  send(`${[...file].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
  await until('the batch', () => text().includes('HTTP/1.1 201 Created'));
  expect(memory() - before).toBeLessThan(50);
  close();
});

test('a refusal that does not need the body reaches a client that streams one', async () => {
  const previousKey = key;
  key = 'vat_live_nobody';
  expect(await stream(64 * MIB)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  key = previousKey;
  expect(await stream(64 * MIB, 'text/plain')).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  expect(await stream(64 * MIB, 'text/csv', { 'idempotency-key': '' })).toMatchObject({ status: 400 });
});

test('a declared length over the limit is refused before the body is sent', async () => {
  const { send, text, close } = await open();
  send(head('Content-Type: text/csv', `Content-Length: ${MAX_FILE + 1}`));
  await until('the refusal', () => text().includes('FILE_TOO_LARGE'));
  expect(text()).toMatch(/^HTTP\/1\.1 413 /);
  close();
});

test('a JSON body with a declared length over its limit is refused before it is sent', async () => {
  const { send, text, close } = await open();
  send(head('Content-Type: application/json', 'Content-Length: 65537').replace('/v1/batches', '/v1/checks'));
  await until('the refusal', () => text().includes('BAD_REQUEST'));
  expect(text()).toContain('over 64 KiB');
  close();
});

test('a JSON body without a declared length is refused while it is sent', async () => {
  const { send, text, close } = await open();
  send(head('Content-Type: application/json', 'Transfer-Encoding: chunked').replace('/v1/batches', '/v1/checks'));
  send(`10001\r\n${' '.repeat(65_537)}\r\n`);
  await until('the refusal', () => text().includes('BAD_REQUEST'));
  expect(text()).toContain('over 64 KiB');
  close();
});

test('a refused client that reads only when it can no longer send gets the answer and is then disconnected', async () => {
  const { hostname, port } = new URL(world.baseUrl());
  const socket = new Socket();
  let answer = '';
  let failure: string | undefined;
  let ended = false;
  socket.on('error', ({ message }) => {
    failure = message;
  });
  socket.on('close', () => {
    ended = true;
  });
  // Nothing is read in advance: unread bytes are lost at a reset, as for a program with blocking reads.
  socket.pause();
  socket.connect(Number(port), hostname);
  socket.write(head('Content-Type: text/csv', `Content-Length: ${4096 * MIB}`));
  const read = () => void socket.on('data', (chunk) => (answer += chunk.toString('latin1'))).resume();
  const chunk = Buffer.alloc(MIB, 120);
  let sent = 0;
  const send = () => {
    const stalled = setTimeout(read, 500);
    socket.write(chunk, (error) => {
      clearTimeout(stalled);
      if (error || ended) return;
      sent += chunk.length;
      send();
    });
  };
  send();
  await until('the answer', () => failure ?? answer.includes('FILE_TOO_LARGE'));
  expect([failure, answer.slice(0, 13)]).toEqual([undefined, 'HTTP/1.1 413 ']);
  await until('the end', () => ended);
  expect(sent).toBeLessThan(64 * MIB);
});

test('a connection stays open after a refusal of a small body', async () => {
  const { send, text, close } = await open();
  const body = 'x'.repeat(3 * MIB);
  send(head('Content-Type: text/csv', `Content-Length: ${body.length}`) + body);
  await until('the refusal', () => text().includes('FILE_TOO_LARGE'));
  send(`GET /v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until('the list', () => text().includes('{"data":[],"next_cursor":null}'));
  close();
});

describe('Expect: 100-continue', () => {
  const bodies = [
    ['a file', '/v1/batches', 'text/csv', 'vat_number\nDE136695976\n'],
    ['a JSON body', '/v1/checks', 'application/json', '{"vat_number":"DE1"}'],
  ] as const;
  /** Announces a body and waits for the word to go on. */
  const announce = async (path: string, type: string, body: string) => {
    const connection = await open();
    const request = head(`Content-Type: ${type}`, `Content-Length: ${body.length}`, 'Expect: 100-continue');
    connection.send(request.replace('/v1/batches', path));
    await until('the word to go on', () => connection.text().startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    return connection;
  };

  test.each(bodies)('is answered before %s is read, and the call continues', async (_what, ...call) => {
    const { send, text, close } = await announce(...call);
    send(call[2]);
    await until('the result', () => text().includes('HTTP/1.1 201 Created'));
    close();
  });

  test.each(bodies)('is followed by a refusal when the key is revoked while %s arrives', async (_what, ...call) => {
    const { send, text, close } = await announce(...call);
    await world.sql('UPDATE api_key SET revoked_at = now() WHERE hash = $1', [hashApiKey(key)]);
    await until('the key is refused', async () => (await world.http(key).get('/v1/usage')).status === 401);
    send(call[2]);
    await until('the refusal', () => text().includes('UNAUTHORIZED'));
    expect(text()).toContain('HTTP/1.1 401 Unauthorized');
    close();
  });

  test('is answered with the refusal only, and the connection ends', async () => {
    for (const lines of [
      ['Content-Type: text/csv', `Content-Length: ${MAX_FILE + 1}`],
      ['Content-Type: text/plain', 'Content-Length: 5'],
    ]) {
      const { send, text, isClosed } = await open();
      send(head(...lines, 'Expect: 100-continue'));
      await until('the end', isClosed);
      expect(text()).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(text()).not.toContain('100 Continue');
    }
  });
});

/** Connections that stop in the middle of a file. */
const stall = async (): Promise<RawConnection[]> => {
  const connections = await Promise.all(Array.from({ length: 12 }, open));
  const request = head('Content-Type: text/csv', `Content-Length: ${MAX_FILE}`);
  for (const { send } of connections) send(request + 'x'.repeat(100_000));
  return connections;
};

test('clients that disconnect during an upload release their permits', async () => {
  const connections = await stall();
  const uploading = uploadBatch(world, 'vat_number\nDE136695976\n', { key });
  for (const { close } of connections) close();
  expect((await uploading).status).toBe(201);
});

test('stalled uploads of one account do not delay those of others', async () => {
  const connections = await stall();
  const other = await insertAccount(world);
  expect((await uploadBatch(world, 'vat_number\nDE136695976\n', { key: other.live_key })).status).toBe(201);
  for (const { close } of connections) close();
});

test('three uploads of an account are read, fifty wait, and a further one is refused; other accounts upload', async () => {
  const { account_id: id } = await insertAccount(world);
  const keys = await issueKeys(world, 3 + 50 + 1, uuidOf('account', id) ?? '');
  const connections = await Promise.all(keys.map(open));
  const request = head('Content-Type: text/csv', 'Content-Length: 100');
  for (const [n, { send }] of connections.entries()) send(request.replace(key, keys[n] ?? ''));
  const [refused] = await until('a refusal', () => {
    const answered = connections.filter(({ text }) => text().endsWith('}'));
    return answered.length > 0 && answered;
  });
  expect(refused?.text()).toMatch(/^HTTP\/1\.1 429 .*Retry-After: 5\r\n.*"code":"RATE_LIMITED"/s);
  expect((await uploadBatch(world, 'vat_number\nDE136695976\n', { key })).status).toBe(201);
  expect(connections.filter(({ text }) => text() !== '')).toEqual([refused]);
  for (const { close } of connections) close();
});
