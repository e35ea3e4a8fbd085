import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readStackSettings, StartupError } from './read-settings.js';
import { type StackCommands, startStack } from './start-stack.js';

type RunStack = {
  env: NodeJS.ProcessEnv;
  commands: StackCommands;
  /**
   * Treats the end of the parent process as a signal to stop. Needed under npm: its shell ends on the SIGTERM that npm
   * forwards, but does not forward it. Not for a direct run, which may outlive its shell (nohup).
   */
  endWithParent?: boolean;
};

// One Ctrl-C in a terminal arrives twice within milliseconds: from the terminal and from npm, which forwards it.
const SECOND_CTRL_C_MS = 1_000;
const STOP_DEADLINE_MS = 14_500;
const PARENT_POLL_MS = 200;

const log = (line: string): void => {
  process.stderr.write(`[stack] ${line}\n`);
};

/**
 * Runs a stack in the foreground until SIGINT, SIGTERM or SIGHUP, and resolves with the exit code: 0 after such a
 * signal, 1 when the stack could not be started (with a message on stderr) or stopped. A second signal stops it by
 * force.
 */
export const runStack = async ({ env, commands, endWithParent = false }: RunStack): Promise<number> => {
  // When the terminal is closed, a failing write must not crash the process before the stack is stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stopping = new AbortController();
  const force = new AbortController();
  let firstSignal = 0;
  const onSignal = (): void => {
    if (firstSignal === 0) {
      firstSignal = Date.now();
      log('stopping: running jobs are finished or returned to their queue (Ctrl-C again to force)');
      stopping.abort();
    } else if (Date.now() - firstSignal > SECOND_CTRL_C_MS) force.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  const stopRequested = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  const parent = process.ppid;
  // The timer also keeps this process alive: signal handlers do not, and all children are detached.
  const parentPoll = setInterval(() => {
    if (endWithParent && process.ppid !== parent && firstSignal === 0) onSignal();
  }, PARENT_POLL_MS);

  const run = async (): Promise<number> => {
    try {
      const settings = readStackSettings(env);
      const stack = await startStack({ settings, env, commands, log, signal: stopping.signal, force: force.signal });
      process.stdout.write(`${stack.welcome}\n`);
      await stopRequested;
      await stack.stop();
      return 0;
    } catch (error) {
      if (error === stopping.signal.reason || (error as Error).name === 'AbortError') return 0;
      log(`cannot start: ${error instanceof StartupError ? error.message : (error as Error).stack}`);
      return 1;
    }
  };
  const overdue = async (): Promise<number> => {
    await stopRequested;
    await wait(STOP_DEADLINE_MS, undefined, { ref: false });
    log('some processes did not end in time');
    return 1;
  };
  try {
    return await Promise.race([run(), overdue()]);
  } finally {
    clearInterval(parentPoll);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
  }
};

type StackCommandsOf = { root: string; node: string; development: boolean };

/** The service's programs: the built ones, or for development the sources under Node's watcher. */
export const stackCommands = ({ root, node, development }: StackCommandsOf): StackCommands => {
  const app = (name: string) => path.join(root, 'apps', name);
  const fromSource = (name: string, ...flags: string[]) => [
    ...['--conditions=development', '--import', 'tsx', ...flags],
    path.join(app(name), 'src/main.ts'),
  ];
  const built = (name: string) => [path.join(app(name), 'dist/main.js')];
  const server = (name: string) => ({ file: node, args: development ? fromSource(name, '--watch') : built(name) });
  return {
    api: server('api'),
    worker: server('worker'),
    admin: (args) => ({ file: node, args: [...(development ? fromSource('admin') : built('admin')), ...args] }),
    // Node's watcher runs between the supervisor and the program, and not every version forwards IPC messages.
    reportsReady: !development,
  };
};
