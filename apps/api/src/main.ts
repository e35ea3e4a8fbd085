import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createLogger, readSettings, reportReady, runProcess, SettingsError } from '@vat/runtime';
import { API_SETTINGS, compose } from './compose.js';
import { deriveBaseUrl } from './derive-base-url.js';
import { refuseBrokenCall } from './http/refuse-broken-call.js';

/** Calls in hand may take this long to be answered once stopping has begun; they are answered 202 at once. */
const DRAIN_MS = 8_000;
const STOP_DEADLINE_MS = 10_000;
const CLOSE_IDLE_EVERY_MS = 50;

const drain = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // A kept-alive connection becomes idle once its call is answered; Node looks for such only when closing begins.
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
      resolve();
    });
  });

const main = (): void => {
  const settings = readSettings(process.env, API_SETTINGS);
  const log = createLogger({
    level: settings.LOG_LEVEL,
    pretty: process.stdout.isTTY,
    fields: { service: 'api', pid: process.pid },
  });
  const stop = new AbortController();
  // Refused by the app, in the form of every other error.
  const server = createServer({ requireHostHeader: false });
  let port = settings.PORT;
  const baseUrl = () => deriveBaseUrl({ ...settings, PORT: port });
  const { app, warmed, close } = compose(settings, log, stop.signal, baseUrl);
  server.on('request', app);
  // Whoever reads a body says so first (continueIfAsked), so that one which is refused anyway is never sent.
  server.on('checkContinue', app);
  server.on('checkExpectation', app);
  const refuse = refuseBrokenCall(log);
  server.on('clientError', refuse);
  server.on('connect', (_req, socket) => refuse({}, socket));
  // A socket that dawdles over its headers or body is not a caller; one that waits 48 s for its answer is.
  server.headersTimeout = 15_000;
  // Above the minute that an upload may take, which is then told what was wrong.
  server.requestTimeout = 70_000;
  server.keepAliveTimeout = 65_000;
  server.on('error', (error: NodeJS.ErrnoException) => {
    log.error(
      error.code === 'EADDRINUSE'
        ? `Port ${settings.PORT} is in use; set PORT to a free one.`
        : 'The API cannot listen.',
      { error: error.message },
    );
    process.exit(1);
  });
  runProcess({
    log,
    process,
    stopDeadlineMs: STOP_DEADLINE_MS,
    beginStop: () => stop.abort(),
    parts: () => [
      { name: 'connections', stop: close },
      { name: 'http', stop: () => drain(server) },
    ],
  });
  const listen = () =>
    server.listen(settings.PORT, settings.HOST, () => {
      // Kept, since a closing server has no address and calls in hand are still to be answered with it.
      port = (server.address() as AddressInfo).port;
      log.info('Listening.', { base_url: baseUrl(), port });
      reportReady(process, { base_url: baseUrl(), port });
    });
  // The first burst of calls must not wait for twenty handshakes. Without Postgres this is soon over, too.
  void warmed.then(() => !stop.signal.aborted && listen());
};

try {
  main();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
