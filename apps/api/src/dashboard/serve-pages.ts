import { existsSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '@vat/domain';
import express, { type RequestHandler, Router } from 'express';
import { secure } from '../http/secure.js';

export type ServePagesDeps = {
  /** Where the built pages lie: `index.html`, and `assets/` whose names carry a hash of what is in them. */
  pagesFolder: string;
};

const NOT_BUILT =
  'The dashboard is not built on this server. Run `npm run build` in its checkout, then reload this page.\nThe API works without it, see /docs.\n';

/** What the build makes beside each text, best first. */
const ENCODINGS = [
  { coding: 'br', ending: '.br' },
  { coding: 'gzip', ending: '.gz' },
] as const;

/** Leads to the compressed twin of a file where there is one that the browser takes. */
const preferCompressed =
  (folder: string): RequestHandler =>
  (req, res, next) => {
    const wanted = /^\/[\w.-]+\.(js|css|svg)$/.exec(req.path);
    if (!wanted) return next();
    res.vary('Accept-Encoding');
    const best = ENCODINGS.find(
      ({ coding, ending }) =>
        req.acceptsEncodings(coding) === coding && existsSync(path.join(folder, `${req.path}${ending}`)),
    );
    if (best) {
      res.type(String(wanted[1]));
      res.setHeader('Content-Encoding', best.coding);
      req.url = `${req.path}${best.ending}`;
    }
    next();
  };

/**
 * The dashboard's pages: every address below /app but those of its API is one page, which finds its way itself, so that
 * each address survives a reload. A name in `assets/` never changes what it stands for and is kept for ever; the page
 * that names them is asked for every time. Without a build it is a 503 that says so, and everything else goes on.
 */
export const servePages = ({ pagesFolder }: ServePagesDeps): Router => {
  const router = Router();
  const assets = path.join(pagesFolder, 'assets');
  const page: RequestHandler = (_req, res) => {
    res.setHeader('Cache-Control', 'no-store');
    if (!existsSync(path.join(pagesFolder, 'index.html'))) return void res.status(503).type('text').send(NOT_BUILT);
    res.sendFile('index.html', { root: pagesFolder, cacheControl: false, etag: false, lastModified: false });
  };
  const none: RequestHandler = () => {
    throw new AppError('NOT_FOUND', { message: 'There is no such file.' });
  };
  const lasting = { index: false, redirect: false, etag: false } as const;

  router.use(secure('pages'));
  router.use((req, res, next) => {
    if (req.method === 'GET' || req.method === 'HEAD') return next();
    res.setHeader('Allow', 'GET, HEAD');
    throw new AppError('METHOD_NOT_ALLOWED', { message: 'This path accepts GET, HEAD.' });
  });
  router.use(
    '/assets',
    preferCompressed(assets),
    express.static(assets, { ...lasting, immutable: true, maxAge: '1y' }),
    none,
  );
  router.get(
    '/icon.svg',
    preferCompressed(pagesFolder),
    express.static(pagesFolder, { ...lasting, maxAge: '1h' }),
    none,
  );
  router.use(page);
  return router;
};
