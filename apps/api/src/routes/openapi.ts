import { buildOpenApi } from '@vat/contracts';
import type { RequestHandler } from 'express';

/** The version of the description: that of the path prefix and a count of additions; it never takes away. */
const API_VERSION = '1.0.0';

/** GET /v1/openapi.json: made once, from the schemas that judge requests. */
export const showOpenApi = (baseUrl: () => string): RequestHandler => {
  let text: string | null = null;
  return (_req, res) => {
    text ??= JSON.stringify(buildOpenApi(API_VERSION, baseUrl()));
    res.type('application/json').send(text);
  };
};
