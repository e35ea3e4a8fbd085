import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PUBLIC_HISTORY_MS } from '@vat/domain';
import type { IRouter, RequestHandler } from 'express';
import { cached } from '../cached.js';
import { resource } from '../http/resource.js';
import { secure } from '../http/secure.js';
import { type LimitNetworkRateDeps, limitNetworkRate } from '../middleware/limit-rate.js';
import { readStatus, type StatusDeps } from '../routes/usage-and-status.js';
import { renderStatusPage } from './render-status-page.js';

/** Browsers and proxies may cache the page for this long; the service reads the database once in this time. */
const CACHE_S = 60;

/** A body as it is sent: rendered and compressed once for all readers, since a reader needs no key. */
type Rendered = { plain: Buffer; zipped: Buffer; etag: string };

const render = async (text: string): Promise<Rendered> => {
  const plain = Buffer.from(text);
  // Weak: the same for the compressed form.
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url')}"`;
  return { plain, zipped: await promisify(gzip)(plain), etag };
};

/** Mounts /status, a page, and /status.json: the member states now and in the last 30 days, for readers without a key. */
export const mountPublicStatus = (app: IRouter, deps: StatusDeps & LimitNetworkRateDeps): void => {
  const now = readStatus(deps);
  const rendered = cached(async (at) => {
    const period = { from: new Date(at.getTime() - PUBLIC_HISTORY_MS), to: at };
    const status = { ...(await now(at)), history: await deps.readHistory(period, null) };
    return { page: await render(renderStatusPage(status)), json: await render(JSON.stringify(status)) };
  }, CACHE_S * 1_000);

  const send =
    (form: 'page' | 'json', type: string): RequestHandler =>
    async (req, res) => {
      const { [form]: body } = await rendered(deps.now());
      res
        .set({ 'Cache-Control': `public, max-age=${CACHE_S}`, ETag: body.etag })
        .vary('Accept-Encoding')
        .type(type);
      if (req.acceptsEncodings('gzip') !== 'gzip') return void res.send(body.plain);
      res.setHeader('Content-Encoding', 'gzip');
      res.send(body.zipped);
    };
  const limit = limitNetworkRate(deps);
  resource(app, '/status', { get: [secure('status'), limit, send('page', 'html')] });
  resource(app, '/status.json', { get: [limit, send('json', 'json')] });
};
