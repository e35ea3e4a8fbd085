import { errorFields, type Logger } from './create-logger.js';
import { SettingsError } from './settings.js';

/** A started part of a process. Parts are stopped in reverse order. */
export type Stoppable = { name: string; stop: () => Promise<void> };

/** What a program uses of its process. Several programs of a test run may share one. */
export type Host = {
  env: NodeJS.ProcessEnv;
  pid: number;
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  stderr: NodeJS.WritableStream;
  on: (event: string, listener: (value: unknown) => void) => unknown;
  exit: (code: number) => void;
  /** Sends a message to the supervisor, if there is one. */
  send?: (message: unknown) => unknown;
};

type ProcessOptions = {
  log: Logger;
  /** The deadline of the shutdown. After it the process exits anyway, and the sweep finds unfinished work. */
  stopDeadlineMs: number;
  /** The first step of the shutdown: refuse new work, report not ready. */
  beginStop: () => void;
  parts: () => Stoppable[];
  host: Host;
};

/**
 * Shuts a process down on SIGINT, SIGTERM or SIGHUP (its terminal has closed), or when its supervisor has exited: readiness off,
 * drain, close, exit 0. An uncaught error is logged and ends the process with 1; the supervisor starts a new one.
 */
export const runProcess = ({ log, stopDeadlineMs, beginStop, parts, host }: ProcessOptions): void => {
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
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) host.on(signal, () => void stop(signal));
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
export const reportReady = (host: Host, details: Record<string, unknown> = {}): void => {
  host.send?.({ type: 'ready', ...details });
};

/** The exit code of a program whose settings are wrong (EX_CONFIG of sysexits.h): another start would end in the same way. */
export const WRONG_SETTINGS = 78;

/** The program that `start` starts on a host. A wrong setting ends it with {@link WRONG_SETTINGS} and a sentence on stderr. */
export const endOnWrongSettings =
  (start: (host: Host) => Promise<void>) =>
  (host: Host): Promise<void> =>
    start(host).catch((error: unknown) => {
      if (!(error instanceof SettingsError)) throw error;
      host.stderr.write(`${error.message}\n`);
      host.exit(WRONG_SETTINGS);
    });
