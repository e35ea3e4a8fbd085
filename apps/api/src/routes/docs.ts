import express, { type RequestHandler } from 'express';
// Not the package itself: that evaluates the whole page's script, a third of what starting the API costs.
import absolutePath from 'swagger-ui-dist/absolute-path.js';
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

// Without validatorUrl the page would send the description's address to a service of somebody else.
const START = `SwaggerUIBundle({ url: '/v1/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null, tryItOutEnabled: true });
`;

/** GET /docs: the API description for people, with every asset served from here. */
export const docsRoutes = (): { page: RequestHandler[]; start: RequestHandler[]; assets: RequestHandler[] } => ({
  page: [secure('docs'), (_req, res) => void res.type('html').send(PAGE)],
  start: [secure('docs'), (_req, res) => void res.type('js').send(START)],
  assets: [secure('docs'), express.static(absolutePath(), { index: false, maxAge: '1h' })],
});
