import { accessOf, OPERATIONS, type Operation, type OperationName } from '@vat/contracts';
import type { StoredAnswer } from '@vat/domain';
import { errorFields } from '@vat/runtime';
import type { IRouter, RequestHandler, Response } from 'express';
import { type CoverageRoutesDeps, coverageRoutes } from '../coverage/coverage-routes.js';
import { callerAgain, callerOf, contextOf, fingerprintOf, idempotencyKeyOf, ownedId, readerOf } from '../http/call.js';
import { parse, parseQuery } from '../http/parse.js';
import { resources } from '../http/resource.js';
import { type JsonReply, type Routes, SENT, type StoredReply, storedAnswer } from '../http/route.js';
import { refuseTestKey } from '../middleware/authenticate.js';
import { jsonBody, noBody } from '../middleware/body.js';
import { type AnchorRoutesDeps, anchorRoutes } from './anchors.js';
import { type BatchRoutesDeps, batchRoutes } from './batches.js';
import { type CheckRoutesDeps, checkRoutes } from './checks.js';
import { type VerifierRoutesDeps, verifierRoutes } from './documentation.js';
import { type EventRoutesDeps, eventRoutes } from './events.js';
import { type ExportRoutesDeps, exportRoutes } from './exports.js';
import { type TimestampRoutesDeps, timestampRoutes } from './timestamps.js';
import { type UsageRoutesDeps, usageRoutes } from './usage-and-status.js';
import { type WatchRoutesDeps, watchRoutes } from './watches.js';
import { type WebhookRoutesDeps, webhookRoutes } from './webhook.js';

type RoutesDeps = AnchorRoutesDeps &
  BatchRoutesDeps &
  CheckRoutesDeps &
  CoverageRoutesDeps &
  EventRoutesDeps &
  ExportRoutesDeps &
  TimestampRoutesDeps &
  UsageRoutesDeps &
  VerifierRoutesDeps &
  WatchRoutesDeps &
  WebhookRoutesDeps;

export type CustomerRoutesDeps = RoutesDeps & {
  /** Stores the first response of an Idempotency-Key and returns it; `null` when the key is not bound any more. */
  storeAnswer: (accountId: string, key: string, answer: StoredAnswer) => Promise<StoredAnswer | null>;
};

/** The middleware before the handlers of operations that read, and of those that change something. */
type Gates = { reading: RequestHandler[]; changing: RequestHandler[] };

const routesOf = (deps: RoutesDeps): Routes => ({
  ...checkRoutes(deps),
  ...timestampRoutes(deps),
  ...anchorRoutes(deps),
  ...exportRoutes(deps),
  ...verifierRoutes(deps),
  ...batchRoutes(deps),
  ...coverageRoutes(deps),
  ...watchRoutes(deps),
  ...webhookRoutes(deps),
  ...eventRoutes(deps),
  ...usageRoutes(deps),
});

/** Finds the caller again: a body may take a minute to arrive, and the key or the session may have ended meanwhile. */
const findCallerAgain: RequestHandler = async (_req, res, next) => {
  await callerAgain(res);
  next();
};

const gatesOf = (operation: Operation, { reading, changing }: Gates): RequestHandler[] => {
  const { method, key, live, body, uploads } = operation;
  const readBody = body ? [jsonBody] : method === 'post' && !uploads ? noBody : [];
  return [
    ...(key === false ? [] : accessOf(operation) === 'read' ? reading : changing),
    ...(live ? [refuseTestKey] : []),
    ...(readBody.length > 0 ? [...readBody, findCallerAgain] : []),
  ];
};

type AnyReply =
  | (JsonReply & { replayed?: boolean })
  | (Omit<JsonReply, 'body'> & { bytes: Uint8Array })
  | Omit<JsonReply, 'body'>
  | StoredReply
  | typeof SENT;

/** Sends a stored answer. `replayed`: it was already sent for the same Idempotency-Key. */
const sendStored = (res: Response, { answer, replayed }: StoredReply): void => {
  if (replayed) res.setHeader('Idempotency-Replayed', 'true');
  res.status(answer.status).set(answer.headers).end(Buffer.from(answer.body));
};

/** Parses a call by what its operation declares, runs the handler and sends its reply. */
const serve =
  (
    operation: Operation,
    handler: (call: never) => Promise<AnyReply>,
    storeAnswer: CustomerRoutesDeps['storeAnswer'],
  ): RequestHandler =>
  async (req, res) => {
    const query = operation.query && parseQuery(operation.query, req.query);
    const body = operation.body && parse(operation.body, req.body);
    const id = operation.id && ownedId(operation.id, req.params.id);
    const caller = operation.key === false ? undefined : callerOf(res);
    const key = caller && operation.idempotent ? idempotencyKeyOf(req, caller) : null;
    const call = {
      req,
      res,
      caller,
      reader: caller && readerOf(res),
      id,
      query,
      body,
      idempotencyOf: (content: object) => (key === null ? null : { key, fingerprint: fingerprintOf(req, content) }),
    };
    // `Routes` relates the handler to its operation, and `call` was made by the schemas of the same operation.
    const reply = await handler(call as never);
    if (reply === SENT) return;
    if ('answer' in reply) return sendStored(res, reply);
    if ('body' in reply && caller && key !== null) {
      const answer = storedAnswer(reply);
      // The work is bound to the key: without these bytes, a replay is made from the state of the work at that time.
      const first = await storeAnswer(caller.accountId, key, answer).catch((error: unknown) => {
        contextOf(res).log.warn('An idempotent answer was not stored.', errorFields(error));
        return null;
      });
      return sendStored(res, { answer: first ?? answer, replayed: reply.replayed ?? false });
    }
    res.status(reply.status).set(reply.headers ?? {});
    if ('body' in reply) res.json(reply.body);
    else if ('bytes' in reply) {
      const type = operation.success[reply.status]?.contentType;
      res.type(type ?? 'application/octet-stream').send(Buffer.from(reply.bytes));
    } else res.end();
  };

/**
 * Mounts the operations of the API. Under `/v1` they serve API keys, under `/app/api` the sessions of the dashboard, so that
 * both have the same behaviour. Every gate must set the caller.
 */
export const mountCustomerRoutes = (
  app: IRouter,
  prefix: '/v1' | '/app/api',
  deps: CustomerRoutesDeps,
  gates: Gates,
): void => {
  const handlers = routesOf(deps);
  const operations = Object.entries<Operation>(OPERATIONS).filter(
    ([, { dashboard }]) => prefix === '/v1' || dashboard !== false,
  );
  resources(
    app,
    operations.map(([name, operation]) => ({
      method: operation.method,
      path: operation.path.replace(/^\/v1/, prefix),
      handlers: [...gatesOf(operation, gates), serve(operation, handlers[name as OperationName], deps.storeAnswer)],
    })),
  );
};
