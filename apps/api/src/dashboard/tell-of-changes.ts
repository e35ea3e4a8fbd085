import type { PageTopic, TellPages } from '@vat/domain';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.js';

/** What calls that change something are about, by the first word of their path. */
const TOPICS: Readonly<Record<string, PageTopic>> = {
  checks: 'checks',
  batches: 'batches',
  watches: 'watches',
  webhook: 'deliveries',
};

/** Tells an account's pages once a call has changed something, whether a key or another page made it. */
export const tellOfChanges =
  (tell: TellPages): RequestHandler =>
  (req, res, next) => {
    const word = /^\/(?:v1|app\/api)\/([a-z]+)/.exec(req.path)?.[1];
    const topic = word === undefined ? undefined : TOPICS[word];
    if (topic === undefined || req.method === 'GET' || req.method === 'HEAD') return next();
    res.once('close', () => {
      const { caller, session } = contextOf(res);
      const accountId = (caller ?? session)?.accountId;
      if (accountId === undefined || res.statusCode >= 300) return;
      // A 202 leaves a request behind, and no check yet.
      tell(accountId, topic === 'checks' && res.statusCode === 202 ? 'requests' : topic);
    });
    next();
  };
