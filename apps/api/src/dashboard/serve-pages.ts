import { existsSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '@vat/domain';
import express, { type RequestHandler, type Response, Router } from 'express';
import { readOnly } from '../http/resource.js';
import { secure } from '../http/secure.js';

export type ServePagesDeps = {
  /** The folder of the built pages: `index.html`, and `assets/` with a content hash in each file name. */
  pagesFolder: string;
};

/** The answer in place of a page that is not built. */
const NOT_BUILT =
  'The dashboard is not built on this server. Run `npm run build` in its checkout, then reload this page.\nThe API works without it, see /docs.\n';

/** Sends a page that may not be cached; 503 that explains it when the pages are not built. */
export const sendPage = (res: Response, folder: string, page: string): void => {
  res.setHeader('Cache-Control', 'no-store');
  if (!existsSync(path.join(folder, page))) return void res.status(503).type('text').send(NOT_BUILT);
  res.sendFile(page, { root: folder, acceptRanges: false, cacheControl: false, etag: false, lastModified: false });
};

/** The compressed versions that the build creates of each text file, best first. */
const ENCODINGS = [
  { coding: 'br', ending: '.br' },
  { coding: 'gzip', ending: '.gz' },
] as const;

/** Serves the compressed version of a file if there is one that the browser accepts. */
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
 * Serves the dashboard's pages. Every path below /app, except those of its API, gets the same page, which routes in the browser;
 * so every address survives a reload. The content of a file in `assets/` never changes, so it is cached without limit; the page
 * itself is not cached. When the dashboard is not built, pages are answered with 503 that explains it.
 */
export const servePages = ({ pagesFolder }: ServePagesDeps): Router => {
  const router = Router();
  const assets = path.join(pagesFolder, 'assets');
  const none: RequestHandler = () => {
    throw new AppError('NOT_FOUND', { message: 'There is no such file.' });
  };
  const common = { index: false, redirect: false, etag: false, acceptRanges: false } as const;

  router.use(secure('pages'));
  router.use(readOnly);
  router.use(
    '/assets',
    preferCompressed(assets),
    express.static(assets, { ...common, immutable: true, maxAge: '1y' }),
    none,
  );
  router.get(
    '/icon.svg',
    preferCompressed(pagesFolder),
    express.static(pagesFolder, { ...common, maxAge: '1h' }),
    none,
  );
  router.use((_req, res) => sendPage(res, pagesFolder, 'index.html'));
  return router;
};
