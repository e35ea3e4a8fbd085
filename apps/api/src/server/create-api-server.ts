import { createServer, type RequestListener, type Server } from 'node:http';
import { type Logger, type Metrics, throttledLog } from '@vat/runtime';
import { refuseBrokenCall } from '../http/connection.js';
import { endConnections } from './end-connections.js';
import { guardConnections } from './guard-connections.js';

/** A client that sends its headers more slowly is disconnected. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Headers and body together. A route that limits the time for its body itself (`limitsBody`), as those of uploads do, is not subject to it. */
const REQUEST_TIMEOUT_MS = 70_000;
/** How often Node checks for requests that are late; they may take this much longer. */
const CHECK_INTERVAL_MS = 5_000;
const KEEP_ALIVE_MS = 65_000;
/** A connection without a request for this long is closed. The headers of its next request may begin just before the keep-alive ends. */
const IDLE_MS = KEEP_ALIVE_MS + HEADERS_TIMEOUT_MS + CHECK_INTERVAL_MS;

type ApiServerDeps = {
  app: RequestListener;
  log: Logger;
  metrics: Pick<Metrics, 'closedConnections'>;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Aborts when the process ends, whether calls are open or not. */
  cutOff?: AbortSignal;
  /** A client that reads nothing of its response for this long is disconnected. Milliseconds. */
  stalledMs: number;
  /** Further connections are closed immediately. */
  maxConnections: number;
  now: () => Date;
};

/**
 * Creates the HTTP server of an API process with its limits on connections; it does not listen yet. The number of requests per
 * connection is not limited: nothing grows with it, and Node would refuse the next one without the error envelope.
 */
export const createApiServer = ({
  app,
  log,
  metrics,
  stopping,
  cutOff,
  stalledMs,
  maxConnections,
  now,
}: ApiServerDeps): Server => {
  // The app refuses a missing Host, with the error envelope.
  const server = createServer({ requireHostHeader: false, connectionsCheckingInterval: CHECK_INTERVAL_MS });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;

  const guard = guardConnections(server, { stalledMs, idleMs: IDLE_MS, ...(cutOff && { cutOff }) }, (reason) => {
    metrics.closedConnections.inc({ reason });
    log.info('Closed a connection that exceeded a limit.', { reason });
  });
  const handle = guard(endConnections(stopping)(app));
  server.on('request', handle);
  // 100 Continue is sent by the code that reads the body (continueIfAsked), so that a refused body is never sent.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  const refuse = refuseBrokenCall(log);
  server.on('clientError', refuse);
  server.on('connect', (req, socket) => refuse({}, socket, req));

  server.maxConnections = maxConnections;
  const warnRefused = throttledLog(
    (fields) => log.warn('Refused a connection: MAX_CONNECTIONS is reached.', fields),
    now,
  );
  server.on('drop', () => {
    metrics.closedConnections.inc({ reason: 'refused' });
    warnRefused({});
  });
  return server;
};
