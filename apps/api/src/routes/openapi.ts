import { createHash } from 'node:crypto';
import { buildOpenApi } from '@vat/contracts';
import type { RequestHandler } from 'express';

/** The version of the description: that of the path prefix and a count of additions; it never takes away. */
const API_VERSION = '1.0.0';

/**
 * GET /v1/openapi.json: made once, from the schemas that judge requests. All responses share its bytes: a copy for each would
 * let clients that do not read fill the memory. A client that has them already gets 304.
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
