import type { Caller } from '@vat/db';
import { AppError, hashApiKey, isApiKeyForm } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf, contextOf } from '../http/call.js';
import { shortMemory } from '../short-memory.js';

/** A revoked key or a disabled account may work for this long; the contract allows 5 s. */
const REMEMBERED_MS = 2_000;
/** A key that is unknown (or revoked) stays so: nobody can use a key before it is issued, and none is put back. */
const UNKNOWN_MS = 5_000;
/** Last-used times are good to the minute; more would be a write a call. */
const TOUCH_EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export type AuthenticateDeps = {
  findKey: (hash: Uint8Array) => Promise<Caller | null>;
  touchKey: (keyId: string, now: Date) => Promise<void>;
  now: () => Date;
};

/** Finds the caller by `Authorization: Bearer KEY`, or throws UNAUTHORIZED. */
export const authenticate = ({ findKey, touchKey, now }: AuthenticateDeps): RequestHandler => {
  const known = shortMemory<Caller>({ max: MAX_REMEMBERED, ms: REMEMBERED_MS });
  const unknown = shortMemory<true>({ max: MAX_REMEMBERED, ms: UNKNOWN_MS });
  const touched = new Map<string, number>();

  const find = async (key: string): Promise<Caller | null> => {
    const hash = hashApiKey(key);
    const id = hash.toString('base64');
    // Before the read, so that the time it takes counts.
    const at = now();
    const remembered = known.find(id, at);
    if (remembered) return remembered;
    if (unknown.find(id, at)) return null;
    const caller = await findKey(hash);
    if (caller) known.set(id, caller, at);
    else unknown.set(id, true, at);
    return caller;
  };

  const touch = (caller: Caller): void => {
    const at = now();
    if ((touched.get(caller.keyId) ?? 0) + TOUCH_EVERY_MS > at.getTime()) return;
    if (touched.size > MAX_REMEMBERED) touched.clear();
    touched.set(caller.keyId, at.getTime());
    // Nobody's call fails because a time stamp could not be written.
    touchKey(caller.keyId, at).catch(() => touched.delete(caller.keyId));
  };

  return async (req, res, next) => {
    const [, key = ''] = /^bearer +(\S+)$/i.exec(req.get('authorization') ?? '') ?? [];
    const caller = isApiKeyForm(key) ? await find(key) : null;
    if (!caller) {
      res.setHeader('WWW-Authenticate', 'Bearer');
      throw new AppError('UNAUTHORIZED');
    }
    contextOf(res).caller = caller;
    touch(caller);
    next();
  };
};

/**
 * Throws TEST_KEY_NOT_ALLOWED for a test key: batches, watches, the audit export, anchors and timestamps are for live keys
 * alone (contract part 1 §5). Runs after the gates and before the body is read.
 */
export const refuseTestKey: RequestHandler = (_req, res, next) => {
  if (callerOf(res).test) throw new AppError('TEST_KEY_NOT_ALLOWED');
  next();
};
