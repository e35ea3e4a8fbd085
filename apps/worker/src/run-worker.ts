import {
  createLogger,
  endOnWrongSettings,
  openTracing,
  readSettings,
  reportReady,
  runProcess,
  SettingsError,
  startProbeServer,
} from '@vat/runtime';
import { compose } from './compose.js';
import { verifySlots } from './settings.js';

/** How long a stopping worker waits for open lookups and attempts before it aborts them; their jobs are rescheduled. */
const ABORT_GRACE_MS = 5_000;
const STOP_DEADLINE_MS = 10_000;

/** Runs the worker until its host stops it. */
export const runWorker = endOnWrongSettings(async (host) => {
  const settings = readSettings(host.env, 'worker');
  const log = createLogger({
    level: settings.LOG_LEVEL,
    output: host.stdout,
    fields: { service: 'worker', pid: host.pid },
  });
  await verifySlots(settings);
  const stop = new AbortController();
  const abort = new AbortController();
  const tracing = await openTracing(settings.OTEL_EXPORTER_OTLP_ENDPOINT, { service: 'vat-worker', log });
  const { parts, ready, scrape, roles, states } = await compose(settings, { log, tracing }, stop.signal, abort.signal);
  const { METRICS_PORT, HOST, PORT } = settings;
  const probes = await startProbeServer(METRICS_PORT, HOST, { ready, metrics: scrape }, PORT).catch((error: Error) => {
    throw new SettingsError(`The worker cannot listen; correct HOST or METRICS_PORT (${error.message}).`);
  });
  runProcess({
    log,
    host,
    stopDeadlineMs: STOP_DEADLINE_MS,
    beginStop: () => {
      stop.abort();
      setTimeout(() => abort.abort(), ABORT_GRACE_MS).unref();
    },
    parts: () => [{ name: 'probes', stop: probes.close }, ...parts],
  });
  log.info('The worker started.', { queues: roles, member_states: states.length, metrics_port: probes.port });
  reportReady(host, { metrics_port: probes.port });
});
