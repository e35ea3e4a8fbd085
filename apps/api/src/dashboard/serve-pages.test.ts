import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import express from 'express';
import supertest from 'supertest';
import { sendError } from '../middleware/request.js';
import { servePages } from './serve-pages.js';

const PAGE = '<!doctype html><title>Pages</title>';
const SCRIPT = 'export const answer = 42;';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pages-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const build = () => {
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), PAGE);
  writeFileSync(path.join(folder, '.inputs'), 'stamp');
  writeFileSync(path.join(folder, 'assets/main-Ab12.js'), SCRIPT);
  writeFileSync(path.join(folder, 'assets/main-Ab12.js.gz'), gzipSync(SCRIPT));
};
const get = (address: string) => {
  const app = express();
  app.use('/app', servePages({ pagesFolder: folder }));
  app.use(sendError);
  return supertest(app).get(address);
};

test.each(['/app', '/app/', '/app/checks/chk_1', '/app/settings?x=1', '/app/.inputs', '/app/%2e%2e/%2e%2e/etc/passwd'])(
  '%s is the page, which is not cached',
  async (address) => {
    build();
    const { status, text, headers } = await get(address);
    expect([status, text, headers['cache-control']]).toEqual([200, PAGE, 'no-store']);
  },
);

test('the page may load and call only its own origin, and may not be framed', async () => {
  build();
  const { headers } = await get('/app');
  const policy = Object.fromEntries(
    String(headers['content-security-policy'])
      .split('; ')
      .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]),
  );
  expect(policy).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
  });
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
});

test('an asset is cached without limit, and compressed for browsers that accept it', async () => {
  build();
  const { text, headers } = await get('/app/assets/main-Ab12.js').set('Accept-Encoding', 'gzip');
  expect(text).toBe(SCRIPT);
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': expect.stringContaining('javascript'),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  });
  const plain = await get('/app/assets/main-Ab12.js').set('Accept-Encoding', 'identity');
  expect([plain.text, plain.headers['content-encoding'], plain.headers.vary]).toEqual([
    SCRIPT,
    undefined,
    'Accept-Encoding',
  ]);
});

test.each(['/app/assets/gone-Cd34.js', '/app/assets/', '/app/assets/..%2findex.html', '/app/icon.svg'])(
  '%s, which does not exist, is 404 and not the page: a script must not be HTML',
  async (address) => {
    build();
    const { status, body } = await get(address);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  },
);

test('a dashboard that is not built is 503 with the command that builds it', async () => {
  const { status, text, type, headers } = await get('/app/checks');
  expect([status, type, headers['cache-control']]).toEqual([503, 'text/plain', 'no-store']);
  expect(text).toContain('npm run build');
});

test.each(['/app/checks', '/app/assets/main-Ab12.js'])(
  '%s is sent whole, whatever part is requested',
  async (address) => {
    build();
    for (const range of ['bytes=0-3', 'bytes=9999-']) {
      const { status, text, headers } = await get(address).set('Range', range);
      expect([status, text, headers['accept-ranges']]).toEqual([
        200,
        address === '/app/checks' ? PAGE : SCRIPT,
        undefined,
      ]);
    }
  },
);

test.each([
  ['If-Match', '"x"'],
  ['If-Unmodified-Since', 'Mon, 01 Jan 2001 00:00:00 GMT'],
])('an asset that is refused for its %s is an error that no cache stores in its place', async (name, value) => {
  build();
  const { status, body, type, headers } = await get('/app/assets/main-Ab12.js')
    .set('Accept-Encoding', 'gzip')
    .set(name, value);
  expect([status, body.error.code, type]).toEqual([404, 'NOT_FOUND', 'application/json']);
  expect(headers['cache-control']).toBe('no-store');
  for (const header of ['content-encoding', 'last-modified']) expect(headers).not.toHaveProperty(header);
});

test('a page accepts only GET and HEAD', async () => {
  build();
  const app = express();
  app.use('/app', servePages({ pagesFolder: folder }));
  app.use(sendError);
  const { status, headers, body } = await supertest(app).post('/app/checks');
  expect([status, headers.allow, body.error.code]).toEqual([405, 'GET, HEAD', 'METHOD_NOT_ALLOWED']);
});
