import { createHash } from 'node:crypto';
import { canonicalForm } from '@vat/evidence';
import type { Request } from 'express';

/**
 * The fingerprint of a call for its Idempotency-Key: method, path and parsed body, whatever the order of its keys and its
 * white space. Take the body as its schema read it: a raw one may hold what has no canonical form.
 */
export const fingerprintOf = (req: Pick<Request, 'method' | 'path'>, body: object): Buffer =>
  createHash('sha256').update(`${req.method} ${req.path}\n`).update(canonicalForm(body)).digest();
