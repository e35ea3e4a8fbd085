import type { Logger } from '@vat/runtime';
import type { RequestHandler } from 'express';
import { unverifiedClient } from '../dashboard/client-of.js';

/**
 * Logs an ERROR, once in a process, when a peer sends X-Forwarded-For that TRUSTED_PROXIES does not name. If the peer is the
 * operator's proxy, all clients have its address: they share the limits of sign-in, sign-up and /ops, and whoever tries
 * passwords uses them up for everybody.
 */
export const reportUntrustedProxy = (log: Pick<Logger, 'error'>): RequestHandler => {
  let isReported = false;
  return (req, _res, next) => {
    if (!isReported && unverifiedClient(req) !== null) {
      isReported = true;
      log.error(
        'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name. If it is your proxy, add it there: until then all clients share one network, and the limits of sign-in and sign-up with it.',
        { peer: req.socket.remoteAddress },
      );
    }
    next();
  };
};
