import type { PageTopic, PublishChange } from '@vat/domain';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/call.js';

/**
 * The topics that calls change, by path. Updates about checks, requests and deliveries, which name an id, are published where
 * the row is written.
 */
const TOPICS: readonly (readonly [RegExp, PageTopic])[] = [
  [/^\/(v1|app\/api)\/batches(\/|$)/, 'batches'],
  [/^\/(v1|app\/api)\/watches(\/|$)/, 'watches'],
  [/^\/(v1|app\/api)\/checks\/[^/]+\/timestamp$/, 'checks'],
  // Removing the endpoint ends its pending deliveries.
  [/^\/app\/api\/webhook$/, 'deliveries'],
];

/** Publishes a page update for the account after a call that changed something, whether it came with an API key or from a page. */
export const publishChanges =
  (publishChange: PublishChange): RequestHandler =>
  (req, res, next) => {
    if (req.method === 'GET' || req.method === 'HEAD') return next();
    const topic = TOPICS.find(([path]) => path.test(req.path))?.[1];
    if (topic === undefined) return next();
    res.once('close', () => {
      const { caller, session } = contextOf(res);
      const accountId = (caller ?? session)?.accountId;
      if (accountId !== undefined && res.statusCode < 300) publishChange(accountId, topic);
    });
    next();
  };
