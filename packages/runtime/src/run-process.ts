import { errorFields, type Logger } from './create-logger.js';

/** A started part of a process. Parts are stopped in reverse order. */
export type Stoppable = { name: string; stop: () => Promise<void> };

type ProcessOptions = {
  log: Logger;
  /** The deadline of the shutdown. After it the process exits anyway, and the sweep finds unfinished work. */
  stopDeadlineMs: number;
  /** The first step of the shutdown: refuse new work, report not ready. */
  beginStop: () => void;
  parts: () => Stoppable[];
  process: NodeJS.Process;
};

/**
 * Shuts a process down on SIGINT, on SIGTERM, or when its supervisor has exited: readiness off, drain, close, exit 0. An
 * uncaught error is logged and ends the process with 1; the supervisor starts a new one.
 */
export const runProcess = ({ log, stopDeadlineMs, beginStop, parts, process: host }: ProcessOptions): void => {
  let stopping = false;
  const stop = async (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info('Stopping.', { reason });
    beginStop();
    setTimeout(() => {
      log.warn('Shutdown timed out; the sweep will find unfinished work.');
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
  host.on('disconnect', () => void stop('supervisor exited'));
  host.on('uncaughtException', (error) => {
    log.error('Uncaught error; the process exits.', errorFields(error));
    host.exit(1);
  });
  host.on('unhandledRejection', (error) => {
    log.error('Unhandled promise rejection; the process exits.', errorFields(error));
    host.exit(1);
  });
};

/** Reports to the supervisor, if there is one, that this process is ready. */
export const reportReady = (host: NodeJS.Process, details: Record<string, unknown> = {}): void => {
  host.send?.({ type: 'ready', ...details });
};
