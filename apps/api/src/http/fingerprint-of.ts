import { createHash } from 'node:crypto';
import { canonicalForm } from '@vat/evidence';
import type { Request } from 'express';

/** The path of a call's route with its ids, however the caller spelt it: `/V1/Checks/` is `/v1/checks`. */
const pathOf = ({ route, params }: Pick<Request, 'route' | 'params'>): string =>
  String(route.path).replace(/:(\w+)/g, (_name, id: string) => String(params[id]));

/**
 * The fingerprint of a call for its Idempotency-Key: method, path and parsed body, whatever the order of its keys and its
 * white space. Take the body as its schema read it: a raw one may hold what has no canonical form.
 */
export const fingerprintOf = (req: Pick<Request, 'method' | 'route' | 'params'>, body: object): Buffer =>
  createHash('sha256')
    .update(`${req.method} ${pathOf(req)}\n`)
    .update(canonicalForm(body))
    .digest();
