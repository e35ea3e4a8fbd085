import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { networkOf } from '../dashboard/network-of.js';
import { secondsUntil } from '../dashboard/seconds-until.js';
import { readBasicPassword } from './read-basic-password.js';

/** Wrong passwords that one network may try, over all API processes. */
export const OPS_LIMIT = { tries: 10, windowMs: 15 * 60_000 } as const;

/** A network that gave the right password is not counted anew for this long: a page of the board is thirty requests. */
const KNOWN_MS = 5 * 60_000;

const CHALLENGE = 'Basic realm="VAT Validation Service operations", charset="UTF-8"';

export type RequireOpsPasswordDeps = {
  password: string;
  /** The form in which a network with wrong tries is stored. */
  hashNetwork: (network: string) => Uint8Array;
  /** Counts a try before it is judged; `null` when it may be, else when the next one may. */
  reserve: (network: Uint8Array, now: Date) => Promise<Date | null>;
  /** Takes back what was counted. */
  forget: (network: Uint8Array) => Promise<void>;
  now: () => Date;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Lets pass who gives the operator's password by basic auth, with any user name; no session and no key does. Throws
 * UNAUTHORIZED with a challenge, or TOO_MANY_SIGN_INS once a network has tried too many wrong ones, also for the right one.
 */
export const requireOpsPassword = ({
  password,
  hashNetwork,
  reserve,
  forget,
  now,
}: RequireOpsPasswordDeps): RequestHandler => {
  const wanted = sha256(password);
  /** Networks that gave the right password, and until when they need not be counted. A wrong try ends that. */
  const known = new Map<string, number>();
  return async (req, res, next) => {
    const refuse = (message: string): never => {
      res.setHeader('WWW-Authenticate', CHALLENGE);
      throw new AppError('UNAUTHORIZED', { message });
    };
    const given = readBasicPassword(req.get('authorization'));
    if (given === null) return refuse('Give the password of OPS_PASSWORD by basic auth.');
    const network = networkOf(req.ip ?? '');
    const at = now();
    // Of one length, so that they can be compared in constant time.
    const isRight = timingSafeEqual(sha256(given), wanted);
    if (isRight && (known.get(network) ?? 0) > at.getTime()) return next();
    known.delete(network);
    const key = hashNetwork(network);
    const free = await reserve(key, at);
    if (free) {
      throw new AppError('TOO_MANY_SIGN_INS', {
        message: 'Too many wrong passwords from this network.',
        extra: { retry_after: secondsUntil(free, at) },
      });
    }
    if (!isRight) return refuse('The password is wrong.');
    await forget(key);
    known.set(network, at.getTime() + KNOWN_MS);
    next();
  };
};
