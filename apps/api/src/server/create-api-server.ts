import { createServer, type RequestListener, type Server } from 'node:http';
import { type Logger, type Metrics, throttledLog } from '@vat/runtime';
import { refuseBrokenCall } from '../http/connection.js';
import { guardConnections } from './guard-connections.js';

/** A client that sends its headers more slowly is cut off. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Headers and body together: above the minute that an upload may take, which is then answered with what was wrong. */
const REQUEST_TIMEOUT_MS = 70_000;
/** How often Node looks for requests that are late: they may take so much longer. */
const CHECK_EVERY_MS = 5_000;
const KEEP_ALIVE_MS = 65_000;
/** What no request explains any more: the next one's headers may have begun just before the connection was idle for too long. */
const IDLE_MS = KEEP_ALIVE_MS + HEADERS_TIMEOUT_MS + CHECK_EVERY_MS;

const REPEAT_WARNING_MS = 30_000;

type ApiServerDeps = {
  app: RequestListener;
  log: Logger;
  metrics: Pick<Metrics, 'closedConnections'>;
  /** A client that takes nothing of its response for this long, in milliseconds, is cut off. */
  stalledMs: number;
  /** Further connections are closed as they come. */
  maxConnections: number;
  now: () => Date;
};

/**
 * The HTTP server of an API process, not yet listening, with its limits on connections. The number of requests that one
 * connection carries in its life is not limited: nothing grows with it, and Node would refuse the one after the last without
 * an envelope.
 */
export const createApiServer = ({ app, log, metrics, stalledMs, maxConnections, now }: ApiServerDeps): Server => {
  // A missing Host is refused by the app, in the form of every other error.
  const server = createServer({ requireHostHeader: false, connectionsCheckingInterval: CHECK_EVERY_MS });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;

  const guard = guardConnections(server, { stalledMs, idleMs: IDLE_MS }, (reason) => {
    metrics.closedConnections.inc({ reason });
    log.info('Closed a connection that passed a limit.', { reason });
  });
  const handle = guard(app);
  server.on('request', handle);
  // Whoever reads a body says so first (continueIfAsked), so that one which is refused anyway is never sent.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  const refuse = refuseBrokenCall(log);
  server.on('clientError', refuse);
  server.on('connect', (_req, socket) => refuse({}, socket));

  server.maxConnections = maxConnections;
  const warnOfCap = throttledLog(
    (fields) => log.warn('Refused a connection: MAX_CONNECTIONS are open.', fields),
    REPEAT_WARNING_MS,
    now,
  );
  server.on('drop', () => {
    metrics.closedConnections.inc({ reason: 'refused' });
    warnOfCap({});
  });
  return server;
};
