import { setMaxListeners } from 'node:events';
import type { Backoff, Kept } from './child.js';
import { type Command, startChild, superviseChild } from './child.js';
import { claimDataDir, loadOrCreateSecretKey, openDataDir, runFile } from './data-dir.js';
import type { StackSettings } from './read-settings.js';
import { assertPortFree, deriveBaseUrl, StartupError } from './read-settings.js';
import { describeStack, runAdmin, seedDemo } from './seed-demo.js';
import { startServers } from './start-servers.js';

/** The programs a stack consists of. `saysReady` is false when they cannot say so over IPC (under a watcher). */
export type StackCommands = {
  api: Command;
  worker: Command;
  admin: (args: string[]) => Command;
  saysReady: boolean;
};

/** Everything a stack is started from. */
type StartStack = {
  settings: StackSettings;
  /** Handed on to the children; theirs is to read it. */
  env: NodeJS.ProcessEnv;
  commands: StackCommands;
  /** Hears what a person should know: one line each. */
  say: (line: string) => void;
  /** Gives up starting; everything started so far is stopped, and the call rejects. */
  signal: AbortSignal;
  /** Makes stopping impatient: whatever still runs is killed. */
  force: AbortSignal;
  backoff?: Backoff;
};

/** A stack that is up. */
export type Stack = {
  /** The text to print: addresses, sign-in, keys, a call to try. */
  welcome: string;
  /** Ends the children (10 s), then Redis, then Postgres; all of it in less than 15 s. */
  stop: () => Promise<void>;
};

const SERVER_STOP_MS = 1_800;

/**
 * Brings everything up, in order: data directory, port, servers, migrations, demo account, API and workers, `run.json`.
 * Throws StartupError with a message for the person at the terminal, with nothing left running.
 */
export const startStack = async (options: StartStack): Promise<Stack> => {
  const { settings, env, commands, say, signal, force, backoff } = options;
  // As many listen as there are processes; that is no leak.
  setMaxListeners(0, signal, force);
  const undo: (() => unknown)[] = [];
  let announceStop: () => void = () => undefined;
  const stop = async (): Promise<void> => {
    announceStop();
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const dataDir = openDataDir(settings.DATA_DIR);
    const claim = await claimDataDir(dataDir, say);
    undo.push(claim.release);
    ({ announceStop } = claim);
    const run = runFile(dataDir);
    run.remove();
    await assertPortFree(settings.HOST, settings.PORT);
    signal.throwIfAborted();

    let publish: () => void = () => undefined;
    const changed = () => publish();
    const { postgres, redis } = await startServers({ settings, dataDir, env, say, changed, signal });
    for (const { kept } of [postgres, redis]) {
      undo.push(async () => kept?.stop({ timeoutMs: SERVER_STOP_MS, force }));
    }
    signal.throwIfAborted();

    const baseUrl = deriveBaseUrl(settings);
    const shared: NodeJS.ProcessEnv = {
      ...{ NODE_ENV: 'production', ...env },
      ...{
        DATABASE_URL: postgres.url,
        REDIS_URL: redis.url,
        BASE_URL: baseUrl,
        HOST: settings.HOST,
        PORT: String(settings.PORT),
      },
      SECRET_KEY: loadOrCreateSecretKey(dataDir, settings.SECRET_KEY),
      // The settings above were read from there.
      ...{ DATABASE_URL_FILE: undefined, REDIS_URL_FILE: undefined, SECRET_KEY_FILE: undefined },
    };
    const admin = (args: string[], input?: string) =>
      runAdmin({ command: commands.admin(args), env: shared, signal, input });
    const migrated = await admin(['migrate']);
    if (!migrated.ok) throw new StartupError(`the migrations failed:\n${migrated.stderr || migrated.stdout}`);
    const database = postgres.kept ? 'embedded' : postgres.url.replace(/^.*@/, '');
    const demo = await seedDemo({ dataDir, database, created: postgres.created, admin, say });
    signal.throwIfAborted();

    const children: Kept[] = [];
    const record = () => claim.recordChildren(children.map((child) => child.pid()));
    publish = record;
    const supervise = (name: string, command: Command, extra: NodeJS.ProcessEnv = {}) => {
      const start = () => startChild(command, { ...shared, ...extra });
      const child = superviseChild({ name, start, changed, say, backoff });
      children.push(child);
      return child;
    };
    undo.push(() => Promise.all(children.map((child) => child.stop({ force }))));
    const api = supervise('api', commands.api);
    const workers = Array.from({ length: settings.WORKERS }, (_, index) =>
      supervise(`worker ${index + 1}`, commands.worker, { METRICS_PORT: String(settings.METRICS_PORT + index) }),
    );
    record();
    if (commands.saysReady) await Promise.all([api, ...workers].map((child) => child.untilReady(signal)));

    publish = () => {
      record();
      run.write({
        ...{ base_url: baseUrl, database_url: postgres.url, redis_url: redis.url },
        pids: {
          ...(postgres.kept && { postgres: postgres.kept.pid() }),
          ...(redis.kept && { redis: redis.kept.pid() }),
          ...{ api: api.pid(), workers: workers.map((worker) => worker.pid()) },
        },
      });
    };
    publish();
    undo.push(() => {
      // A child that is restarted at this very moment must not bring the file back.
      publish = () => undefined;
      run.remove();
    });
    return { welcome: describeStack(baseUrl, demo), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
