import type { PageTopic, PublishChange } from '@vat/domain';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/call.js';

/**
 * Calls after which something is another, by their path. Checks, requests and deliveries are told with their id where they
 * are written down.
 */
const ABOUT: readonly (readonly [RegExp, PageTopic])[] = [
  [/^\/(v1|app\/api)\/batches(\/|$)/, 'batches'],
  [/^\/(v1|app\/api)\/watches(\/|$)/, 'watches'],
  [/^\/(v1|app\/api)\/checks\/[^/]+\/timestamp$/, 'checks'],
  // Removing the endpoint ends what is pending.
  [/^\/app\/api\/webhook$/, 'deliveries'],
];

/** Tells an account's pages once a call has changed something, whether a key or another page made it. */
export const publishChanges =
  (tell: PublishChange): RequestHandler =>
  (req, res, next) => {
    if (req.method === 'GET' || req.method === 'HEAD') return next();
    const topic = ABOUT.find(([path]) => path.test(req.path))?.[1];
    if (topic === undefined) return next();
    res.once('close', () => {
      const { caller, session } = contextOf(res);
      const accountId = (caller ?? session)?.accountId;
      if (accountId !== undefined && res.statusCode < 300) tell(accountId, topic);
    });
    next();
  };
