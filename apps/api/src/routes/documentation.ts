import { createHash } from 'node:crypto';
import { buildOpenApi } from '@vat/contracts';
import type { Verifier } from '@vat/evidence';
import { create as contentDisposition } from 'content-disposition';
import express, { type RequestHandler } from 'express';
// Importing the package itself would run the script of the whole page, a third of the time that the API takes to start.
import absolutePath from 'swagger-ui-dist/absolute-path.js';
import { readOnly } from '../http/resource.js';
import type { Routes } from '../http/route.js';
import { secure } from '../http/secure.js';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>VAT Validation Service: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/**
 * The document names BASE_URL as its server. The page may be open under another name of the service, such as localhost, and
 * browsers refuse calls to other origins; so the page calls its own. Without `validatorUrl: null` it would send the address of the
 * document to a third party.
 */
const START = `const DOCUMENT = '/v1/openapi.json';
const callThisOrigin = (response) => {
  if (response.ok && response.url === location.origin + DOCUMENT)
    response.text = JSON.stringify({ ...JSON.parse(response.text), servers: [{ url: location.origin }] });
  return response;
};
SwaggerUIBundle({
  url: DOCUMENT,
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  responseInterceptor: callThisOrigin,
});
`;

/** GET /docs: the API reference, with all its files served from here. */
export const docsRoutes = (): { page: RequestHandler[]; start: RequestHandler[]; assets: RequestHandler[] } => ({
  page: [secure('docs'), (_req, res) => void res.type('html').send(PAGE)],
  start: [secure('docs'), (_req, res) => void res.type('js').send(START)],
  assets: [
    secure('docs'),
    readOnly,
    express.static(absolutePath(), { index: false, maxAge: '1h', acceptRanges: false }),
  ],
});

/** The version of the document: the major version is that of the path prefix, and later versions only add to the API. */
const API_VERSION = '1.0.0';

/**
 * GET /v1/openapi.json, generated once. All responses share its bytes: with a copy for each, clients that do not read could
 * fill the memory. A client that has the current document gets 304.
 */
export const showOpenApi = (baseUrl: () => string): RequestHandler => {
  let made: { bytes: Buffer; etag: string } | null = null;
  return (_req, res) => {
    if (!made) {
      const bytes = Buffer.from(JSON.stringify(buildOpenApi(API_VERSION, baseUrl())));
      made = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
    }
    res.setHeader('ETag', made.etag);
    res.type('application/json').send(made.bytes);
  };
};

export type VerifierRoutesDeps = { readVerifier: () => Promise<Verifier>; baseUrl: () => string };

/** Short, since after an upgrade a cached hash and a newly fetched file may differ for this long. */
const MAX_AGE_SECONDS = 60;

/**
 * The routes of /verifier: the program that verifies dossiers, and its SHA-256. Public, since auditors have no key. The copy
 * in a dossier proves nothing about a dossier that is forged as a whole.
 */
export const verifierRoutes = ({
  readVerifier,
  baseUrl,
}: VerifierRoutesDeps): Pick<Routes, 'getVerifier' | 'getVerifierFile'> => {
  const cacheHeaders = (sha256: string) => ({
    'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
    ETag: `"${sha256}"`,
    'X-Content-Type-Options': 'nosniff',
  });

  return {
    getVerifier: async () => {
      const { fileName, bytes, sha256 } = await readVerifier();
      const url = `${baseUrl()}/verifier/${fileName}`;
      const body = { object: 'verifier', file_name: fileName, sha256, size: bytes.length, url } as const;
      return { status: 200, body, headers: cacheHeaders(sha256) };
    },

    getVerifierFile: async () => {
      const { fileName, bytes, sha256 } = await readVerifier();
      const headers = { ...cacheHeaders(sha256), 'Content-Disposition': contentDisposition(fileName) };
      return { status: 200, bytes, headers };
    },
  };
};
