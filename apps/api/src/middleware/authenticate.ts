import type { Caller } from '@vat/db';
import { AppError, hashApiKey, isApiKeyForm } from '@vat/domain';
import type { RequestHandler } from 'express';
import { shortMemory } from '../cached.js';
import { callerAgain, callerOf, contextOf } from '../http/call.js';

/** How long a known key is cached. A revoked key or a disabled account may work for this long; docs/api.md promises at most 5 s. */
const KNOWN_KEY_MS = 2_000;
/** How long an unknown key is cached. It stays unknown: a key is not used before it is issued, and a revoked key never returns. */
const UNKNOWN_KEY_MS = 5_000;
/** Last-used times are accurate to the minute; more precision would cost a write for each call. */
const TOUCH_INTERVAL_MS = 60_000;
const MAX_CACHED_KEYS = 10_000;

export type AuthenticateDeps = {
  findKey: (hash: Uint8Array) => Promise<Caller | null>;
  touchKey: (keyId: string, now: Date) => Promise<void>;
  now: () => Date;
};

/** Finds the caller by `Authorization: Bearer KEY`, or throws UNAUTHORIZED. */
export const authenticate = ({ findKey, touchKey, now }: AuthenticateDeps): RequestHandler => {
  const known = shortMemory<Caller>({ max: MAX_CACHED_KEYS, ms: KNOWN_KEY_MS });
  const unknown = shortMemory<true>({ max: MAX_CACHED_KEYS, ms: UNKNOWN_KEY_MS });
  const touched = new Map<string, number>();
  /** By key. Calls with a key that is being read wait for that: its limit is not known before, and they could take all connections. */
  const reading = new Map<string, Promise<Caller | null>>();

  const read = async (hash: Uint8Array, id: string, at: Date): Promise<Caller | null> => {
    const caller = await findKey(hash);
    if (caller) known.set(id, caller, at);
    else unknown.set(id, true, at);
    return caller;
  };
  const find = async (key: string): Promise<Caller | null> => {
    const hash = hashApiKey(key);
    const id = hash.toString('base64');
    // Taken before the read, so that the duration of the read counts towards the lifetime.
    const at = now();
    const cached = known.find(id, at);
    if (cached) return cached;
    if (unknown.find(id, at)) return null;
    const found = reading.get(id) ?? read(hash, id, at).finally(() => reading.delete(id));
    reading.set(id, found);
    return found;
  };

  const touch = (caller: Caller): void => {
    const at = now();
    if ((touched.get(caller.keyId) ?? 0) + TOUCH_INTERVAL_MS > at.getTime()) return;
    if (touched.size > MAX_CACHED_KEYS) touched.clear();
    touched.set(caller.keyId, at.getTime());
    // A call must not fail because its last-used time could not be written.
    touchKey(caller.keyId, at).catch(() => touched.delete(caller.keyId));
  };

  return async (req, res, next) => {
    // Not every proxy that stores answers takes into account that they belong to the key of the call.
    res.setHeader('Cache-Control', 'no-store');
    const [, key = ''] = /^bearer +(\S+)$/i.exec(req.get('authorization') ?? '') ?? [];
    const findCaller = async (): Promise<Caller> => {
      const caller = isApiKeyForm(key) ? await find(key) : null;
      if (caller) return caller;
      // A file whose caller is verified while it is sent has its headers already.
      if (!res.headersSent) res.setHeader('WWW-Authenticate', 'Bearer');
      throw new AppError('UNAUTHORIZED');
    };
    contextOf(res).findCaller = findCaller;
    touch(await callerAgain(res));
    next();
  };
};

/**
 * Throws TEST_KEY_NOT_ALLOWED for a test key: batches, watches, the audit export, anchors and time-stamps need a live key. Runs
 * after authentication and rate limit, and before the body is read.
 */
export const refuseTestKey: RequestHandler = (_req, res, next) => {
  if (callerOf(res).test) throw new AppError('TEST_KEY_NOT_ALLOWED');
  next();
};
