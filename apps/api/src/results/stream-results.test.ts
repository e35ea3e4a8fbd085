import { type LineResult, RESULT_COLUMNS } from '@vat/spreadsheet';
import { type LocalServer, openHttpServer, until } from '@vat/testkit';
import express from 'express';
import { openRaw } from '../raw-connection.fixture.js';
import { streamResults } from './stream-results.js';

const HEAD = { fileName: 'a.csv', header: ['note'], width: 1, total: 50_003 };
const FORM = { format: 'csv', delimiter: ',', bom: false } as const;
type StoredLine = { id: string; cellsJson: string };
const NOTHING = Object.fromEntries(RESULT_COLUMNS.map((name) => [name, null])) as LineResult;
const STALLED_MS = 300;
const CELL = 'x'.repeat(1_000);

let server: LocalServer;
afterEach(() => server.close());

const pageOf = (after: string | null, limit: number): StoredLine[] =>
  Array.from({ length: limit }, (_, n) => ({
    id: String(Number(after ?? 0) + n + 1),
    cellsJson: JSON.stringify([CELL]),
  }));

/** Serves results whose pages `read` returns. `ended`: how the streaming ended; `waiting`: the maximum of bytes not sent yet. */
const serve = async (read: (after: string | null, limit: number) => StoredLine[] | Promise<StoredLine[]>) => {
  const seen = { reads: 0, waiting: 0, leaseFreed: false, ended: null as null | 'done' | Error };
  const lease = new AbortController();
  const app = express();
  app.get('/', async (_req, res) => {
    const counted = (after: string | null, limit: number) => {
      seen.reads += 1;
      seen.waiting = Math.max(seen.waiting, res.writableLength);
      return Promise.resolve().then(() => read(after, limit));
    };
    try {
      await streamResults(res, {
        id: 'bat_1',
        columns: RESULT_COLUMNS,
        resultOf: () => NOTHING,
        head: HEAD,
        form: FORM,
        read: counted,
        stalledMs: STALLED_MS,
        signal: lease.signal,
        beforeEnd: async () => {
          seen.leaseFreed = true;
        },
      });
      seen.ended = 'done';
    } catch (error) {
      seen.ended = error as Error;
      if (!res.headersSent) res.status(500).end();
    }
  });
  server = await openHttpServer(app);
  return { seen, lease, url: server.url };
};

test('reads no faster than the client', async () => {
  const { seen, url } = await serve((after, limit) => pageOf(after, Number(after) < 50_000 ? limit : 3));
  const text = await (await fetch(url)).text();
  expect(text.split('\r\n')).toHaveLength(1 + 50_003 + 1);
  // Before the client has seen the end, so that the lease is free for its next download.
  expect(seen.leaseFreed).toBe(true);
  expect(seen.ended).toBe('done');
  expect(seen.reads).toBe(101);
  // Two pages of fifty megabytes in total, one of them half sent.
  expect(seen.waiting).toBeLessThan(1_200_000);
});

test('stops reading once the client has disconnected', async () => {
  const { seen, url } = await serve(pageOf);
  const client = new AbortController();
  const response = await fetch(url, { signal: client.signal });
  await response.body?.getReader().read();
  client.abort();
  await until('the end', () => seen.ended);
  expect(seen.ended).toBe('done');
});

test('is aborted when the client reads nothing for too long', async () => {
  const { seen, url } = await serve(pageOf);
  const client = new AbortController();
  await fetch(url, { signal: client.signal });
  await until('the end', () => seen.ended);
  expect(seen.ended).toBe('done');
  client.abort();
});

test('is aborted when the rest cannot be read, so that an incomplete file is not taken for a complete one', async () => {
  const { seen, url } = await serve((after, limit) => {
    if (after !== null) throw new Error('the database is away');
    return pageOf(after, limit);
  });
  const response = await fetch(url);
  await expect(response.text()).rejects.toThrow();
  expect(seen.ended).toEqual(new Error('the database is away'));
});

describe('over HTTP/1.0, where a file ends with its connection, it is reset', () => {
  /** The chunks of the first page that are full: its rows of which 65 make a chunk. */
  const FIRST_CHUNKS = 455 * (CELL.length + RESULT_COLUMNS.length + '\r\n'.length);
  const begin = async (url: string) => {
    const raw = await openRaw(url);
    raw.send('GET / HTTP/1.0\r\n\r\n');
    return raw;
  };

  test.each(['the rest cannot be read', 'the lease is lost'])('when %s', async (what) => {
    let fail = (_error: Error): void => undefined;
    const second = new Promise<StoredLine[]>((_resolve, reject) => {
      fail = reject;
    });
    const { seen, lease, url } = await serve((after, limit) => (after === null ? pageOf(after, limit) : second));
    const raw = await begin(url);
    // A client of Node does not see a reset that arrives with data.
    await until('all that was sent', () => seen.reads === 2 && raw.text().length > FIRST_CHUNKS);
    if (what === 'the lease is lost') lease.abort();
    fail(new Error('the database is away'));
    await until('the end', () => raw.isClosed());
    expect(raw.wasReset()).toBe(true);
  });

  test('but not at its own end', async () => {
    const { seen, url } = await serve((after, limit) => pageOf(after, Number(after) < 50_000 ? limit : 3));
    const raw = await begin(url);
    await until('the end', () => raw.isClosed());
    expect([raw.wasReset(), seen.ended]).toEqual([false, 'done']);
  });
});

test('ends at once when its lease is lost, since another download may have taken its place', async () => {
  const { seen, lease, url } = await serve((after, limit) => pageOf(after, Number(after) < 50_000 ? limit : 3));
  const response = await fetch(url);
  lease.abort();
  await expect(response.text()).rejects.toThrow();
  await until('the end', () => seen.ended);
  expect(seen.ended).toMatchObject({ name: 'AbortError' });
  expect(seen.reads).toBeLessThan(50);
});

test.each([
  ['all lines that are left', 0],
  ['a part of a page', 10],
])('is aborted when its batch is deleted during the download: %s are missing', async (_what, left) => {
  const { seen, url } = await serve((after, limit) => pageOf(after, after === null ? limit : left));
  const response = await fetch(url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect(seen.ended).toMatchObject({ code: 'NOT_FOUND' });
});

test('sends nothing of a batch that is already deleted', async () => {
  const { seen, url } = await serve(() => []);
  expect((await fetch(url)).status).toBe(500);
  expect(seen.ended).toMatchObject({ code: 'NOT_FOUND' });
});

test('sends nothing before the first page was read', async () => {
  const { url } = await serve(() => {
    throw new Error('the database is away');
  });
  expect((await fetch(url)).status).toBe(500);
});

test('sends nothing when a later page cannot be read before the first byte was sent', async () => {
  const short = (after: string | null, limit: number) => {
    if (after !== null) throw new Error('the database is away');
    return Array.from({ length: limit }, (_, n) => ({ id: String(n + 1), cellsJson: '["x"]' }));
  };
  const { seen, url } = await serve(short);
  expect((await fetch(url)).status).toBe(500);
  expect(seen).toMatchObject({ reads: 2, ended: new Error('the database is away') });
});

test('sends nothing when its lease is lost before the first byte', async () => {
  const { seen, lease, url } = await serve((after, limit) => {
    lease.abort(new Error('the key has ended'));
    return pageOf(after, limit);
  });
  expect((await fetch(url)).status).toBe(500);
  expect(seen.ended).toEqual(new Error('the key has ended'));
});
