import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createLogger,
  deriveBaseUrl,
  endOnWrongSettings,
  openTracing,
  readSettings,
  reportReady,
  runProcess,
  WRONG_SETTINGS,
} from '@vat/runtime';
import { compose } from './compose.js';
import { createApiServer } from './server/create-api-server.js';

/** How long open calls may take to finish after a stop begins. Checks that wait for an upstream are answered 202 at once. */
const DRAIN_MS = 8_000;
const STOP_DEADLINE_MS = 10_000;
const CLOSE_IDLE_EVERY_MS = 50;

/**
 * Connections that wait for the process to accept them; the kernel may allow fewer (net.core.somaxconn). Node's default of 511
 * overflows when thousands of callers arrive while the process is busy, and then the kernel resets connections.
 */
const LISTEN_BACKLOG = 4_096;

/** Connections that are established but not accepted yet are reset when the port closes: balancers must stop using it before. */
const drain = async (server: Server, delayMs: number, cutOff: () => void): Promise<void> => {
  await pause(delayMs);
  return new Promise((resolve) => {
    const cut = setTimeout(cutOff, DRAIN_MS);
    // `server.close` closes only the connections that are idle at that moment; others become idle when their call ends.
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
      resolve();
    });
  });
};

/** Runs the API until its host stops it. */
export const runApi = endOnWrongSettings(async (host) => {
  const settings = readSettings(host.env, 'api');
  const log = createLogger({
    level: settings.LOG_LEVEL,
    output: host.stdout,
    fields: { service: 'api', pid: host.pid },
  });
  const tracing = await openTracing(settings.OTEL_EXPORTER_OTLP_ENDPOINT, { service: 'vat-api', log });
  const stop = new AbortController();
  const end = new AbortController();
  let port = settings.PORT;
  const baseUrl = () => deriveBaseUrl({ ...settings, PORT: port });
  const { app, metrics, warmed, close } = compose(settings, { log, tracing }, stop.signal, baseUrl);
  const server = createApiServer({
    app,
    log,
    metrics,
    stopping: stop.signal,
    cutOff: end.signal,
    stalledMs: settings.RESPONSE_STALL_TIMEOUT,
    maxConnections: settings.MAX_CONNECTIONS,
    now: () => new Date(),
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    const inUse = error.code === 'EADDRINUSE';
    log.error(
      inUse
        ? `Port ${settings.PORT} is in use; set PORT to a free one.`
        : 'The API cannot listen; correct HOST or PORT.',
      { error: error.message },
    );
    host.exit(inUse ? 1 : WRONG_SETTINGS);
  });
  runProcess({
    log,
    host,
    stopDeadlineMs: STOP_DEADLINE_MS + settings.SHUTDOWN_DELAY,
    beginStop: () => stop.abort(),
    parts: () => [
      { name: 'traces', stop: async () => tracing?.close() },
      { name: 'connections', stop: close },
      { name: 'http', stop: () => drain(server, settings.SHUTDOWN_DELAY, () => end.abort()) },
    ],
  });
  const listen = () =>
    server.listen({ port: settings.PORT, host: settings.HOST, backlog: LISTEN_BACKLOG }, () => {
      // Stored, because a closing server has no address and the remaining answers still contain the base URL.
      port = (server.address() as AddressInfo).port;
      log.info('Listening.', { base_url: baseUrl(), port });
      reportReady(host, { base_url: baseUrl(), port });
    });
  // The first calls must not wait for the handshakes of the pool. `warmed` resolves soon without Postgres too.
  void warmed.then(() => !stop.signal.aborted && listen());
});
