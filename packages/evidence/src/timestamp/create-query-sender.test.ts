import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { listenLocally } from '@vat/testkit/local-server';
import { type LocalAuthority, startAuthority } from './local-authority.fixture.js';
import { createQuerySender } from './query-sender.js';
import { TimestampRefused } from './timestamp.js';

const TYPE = { 'content-type': 'application/timestamp-reply' };
const QUERY = Buffer.from('a query');

/** Closes everything that a test opened, in reverse order. */
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const start = async (...answer: Parameters<typeof startAuthority>): Promise<LocalAuthority> => {
  const authority = await startAuthority(...answer);
  closers.push(authority.close);
  return authority;
};
const senderTo = (url: string, deadlineMs = 10_000) => {
  const sender = createQuerySender({ url, deadlineMs, now: () => new Date() });
  closers.push(sender.close);
  return sender;
};
/** The refusal of one query, or `none` if it was answered, and its duration. */
const outcome = async (url: string, deadlineMs?: number, signal?: AbortSignal) => {
  const startedAt = performance.now();
  const refusal = await senderTo(url, deadlineMs)
    .send(QUERY, signal)
    .then(
      () => 'none',
      (error: unknown) => {
        if (error instanceof TimestampRefused) return error.refusal;
        throw error;
      },
    );
  return { refusal, tookMs: performance.now() - startedAt };
};

describe('createQuerySender', () => {
  it('sends the query as RFC 3161 requires, and returns the answer byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 60_000 }, (_, i) => i % 256));
    const seen: unknown[] = [];
    const { url } = await start((response, query, { method, url: path, headers }) => {
      seen.push([method, path, headers['content-type'], headers.accept, Buffer.from(query).toString()]);
      response.writeHead(200, { 'content-type': 'application/timestamp-reply; charset=binary' }).end(bytes);
    });
    expect(bytes.equals(await senderTo(url).send(QUERY))).toBe(true);
    const [type, accept] = ['application/timestamp-query', 'application/timestamp-reply'];
    expect(seen).toEqual([['POST', '/tsa', type, accept, 'a query']]);
  });

  it('sends user info as basic authentication, and never puts it into an error', async () => {
    const seen: (string | undefined)[] = [];
    const { url } = await start((response, _, { headers }) => {
      seen.push(headers.authorization);
      response.writeHead(401).end();
    });
    const failed = senderTo(url.replace('//', '//somebody:s3cret@')).send(QUERY);
    await expect(failed).rejects.toThrow(/^the authority answered HTTP 401$/);
    expect(seen).toEqual([`Basic ${Buffer.from('somebody:s3cret').toString('base64')}`]);
  });

  const answers: [string, string, Parameters<typeof startAuthority>[0]][] = [
    ['HTTP 500', 'http_status', (response) => response.writeHead(500, TYPE).end('x')],
    ['HTTP 204', 'http_status', (response) => response.writeHead(204, TYPE).end()],
    ['a redirect', 'http_status', (response) => response.writeHead(302, { ...TYPE, location: '/else' }).end()],
    [
      'a page for people',
      'content_type',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    ],
    ['no content type', 'content_type', (response) => response.writeHead(200).end('x')],
    ['more than 64 KiB', 'too_long', (response) => response.writeHead(200, TYPE).end(Buffer.alloc(65_537))],
    [
      'an answer without an end',
      'too_long',
      (response) => {
        response.writeHead(200, TYPE);
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
    ],
    [
      'half an answer',
      'unreachable',
      (response) => {
        response.writeHead(200, { ...TYPE, 'content-length': '100' });
        response.write('half', () => response.socket?.destroy());
      },
    ],
    ['a broken connection', 'unreachable', (response) => response.socket?.destroy()],
  ];
  it.each(answers)('refuses %s', async (_, refusal, answer) => {
    const { url, queries } = await start(answer);
    expect((await outcome(url)).refusal).toBe(refusal);
    expect(queries()).toBe(1);
  });

  it('accepts an answer of exactly 64 KiB', async () => {
    const { url } = await start((response) => response.writeHead(200, TYPE).end(Buffer.alloc(65_536)));
    expect((await outcome(url)).refusal).toBe('none');
  });

  it('ends at its deadline, without an answer or with a slow one', async () => {
    const silent = await start(() => undefined);
    const drips = new Set<NodeJS.Timeout>();
    closers.push(() => drips.forEach(clearInterval));
    const dripping = await start((response) => {
      response.writeHead(200, TYPE);
      drips.add(setInterval(() => response.write('.'), 20));
    });
    for (const { url } of [silent, dripping]) {
      const { refusal, tookMs } = await outcome(url, 300);
      expect(refusal).toBe('deadline');
      expect(tookMs).toBeGreaterThanOrEqual(290);
      expect(tookMs).toBeLessThan(5_000);
    }
  });

  it('is aborted by its signal and by closing the sender', async () => {
    const received = new EventEmitter();
    const { url, queries } = await start(() => received.emit('query'));
    const off = new AbortController();
    const arrived = once(received, 'query');
    const pending = outcome(url, 10_000, off.signal);
    await arrived;
    off.abort();
    expect((await pending).refusal).toBe('aborted');
    expect((await outcome(url, 10_000, off.signal)).refusal).toBe('aborted');
    expect(queries()).toBe(1);

    const sender = senderTo(url);
    const last = sender.send(QUERY);
    sender.close();
    await expect(last).rejects.toMatchObject({ refusal: 'aborted' });
    await expect(sender.send(QUERY)).rejects.toMatchObject({ refusal: 'aborted' });
  });

  it('refuses an answer that is not HTTP, and a port without a server', async () => {
    const { url, close } = await listenLocally(createServer((socket) => void socket.resume().end('220 hello\r\n')));
    expect((await outcome(url)).refusal).toBe('unreachable');
    await close();
    expect((await outcome(url)).refusal).toBe('unreachable');
    expect((await outcome('ftp://127.0.0.1/')).refusal).toBe('unreachable');
    expect((await outcome('no url')).refusal).toBe('unreachable');
  });
});
