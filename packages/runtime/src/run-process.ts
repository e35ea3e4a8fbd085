import type { Logger } from './create-logger.js';
import { errorFields } from './create-logger.js';

/** A part of a process that was started and can be stopped; parts are stopped in reverse order. */
export type Stoppable = { name: string; stop: () => Promise<void> };

export type ProcessOptions = {
  log: Logger;
  /** The whole of stopping may take this long; then the process ends anyway and what is in hand is found by the sweep. */
  stopDeadlineMs: number;
  /** First step of stopping: refuse new work, report not ready. */
  beginStop: () => void;
  parts: () => Stoppable[];
  process: NodeJS.Process;
};

/**
 * Ends a process in order on SIGINT, SIGTERM, or when the supervisor that started it is gone: readiness off, drain,
 * close, exit 0. A crash nobody caught is logged and ends the process with 1: the supervisor starts a clean one.
 */
export const runProcess = ({ log, stopDeadlineMs, beginStop, parts, process: host }: ProcessOptions): void => {
  let stopping = false;
  const stop = async (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info('Stopping.', { reason });
    beginStop();
    setTimeout(() => {
      log.warn('Stopping took too long; the rest is left to the sweep.');
      host.exit(0);
    }, stopDeadlineMs).unref();
    for (const part of parts().reverse()) {
      await part
        .stop()
        .catch((error: unknown) =>
          log.warn('A part did not stop cleanly.', { part: part.name, ...errorFields(error) }),
        );
    }
    log.info('Stopped.');
    host.exit(0);
  };
  host.on('SIGTERM', () => void stop('SIGTERM'));
  host.on('SIGINT', () => void stop('SIGINT'));
  host.on('disconnect', () => void stop('the supervisor is gone'));
  host.on('uncaughtException', (error) => {
    log.error('A failure nobody caught; the process ends.', errorFields(error));
    host.exit(1);
  });
  host.on('unhandledRejection', (error) => {
    log.error('A failure nobody caught; the process ends.', errorFields(error));
    host.exit(1);
  });
};

/** Tells the supervisor, if there is one, that this process is ready. */
export const reportReady = (host: NodeJS.Process, details: Record<string, unknown> = {}): void => {
  host.send?.({ type: 'ready', ...details });
};
