import { setMaxListeners } from 'node:events';
import { deriveBaseUrl } from '@vat/runtime';
import { type Command, type Supervised, startChild, superviseChild } from './child.js';
import { claimDataDir, loadOrCreateSecretKey, openDataDir, runFile } from './data-dir.js';
import { assertPortFree, type StackSettings, StartupError } from './read-settings.js';
import { describeStack, runAdmin, seedDemo } from './seed-demo.js';
import { startServers } from './start-servers.js';

/** The programs of a stack. `reportsReady` is false when they cannot report readiness over IPC (under a watcher). */
export type StackCommands = {
  api: Command;
  worker: Command;
  admin: (args: string[]) => Command;
  reportsReady: boolean;
};

/** The input of {@link startStack}. */
type StartStack = {
  settings: StackSettings;
  /** Passed to the children. */
  env: NodeJS.ProcessEnv;
  commands: StackCommands;
  /** Prints one line for the user. */
  log: (line: string) => void;
  /** Aborts the start: everything started so far is stopped, and the call rejects. */
  signal: AbortSignal;
  /** Kills all processes that still run while the stack is stopping. */
  force: AbortSignal;
};

/** A running stack. */
export type Stack = {
  /** The text to print: addresses, sign-in, keys, an example call. */
  welcome: string;
  /** Stops the children (10 s), then Redis, then Postgres, in less than 15 s in total. */
  stop: () => Promise<void>;
};

const SERVER_STOP_MS = 1_800;

/**
 * Starts a stack in this order: data directory, port, servers, migrations, demo account, API and workers, `run.json`.
 * When it throws StartupError, whose message is for the user, nothing is left running.
 */
export const startStack = async (options: StartStack): Promise<Stack> => {
  const { settings, env, commands, log, signal, force } = options;
  // There is one listener for each process, so more than Node's ten.
  setMaxListeners(0, signal, force);
  const undo: (() => unknown)[] = [];
  let announceStop: () => void = () => undefined;
  const stop = async (): Promise<void> => {
    announceStop();
    for (const step of undo.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        // Files of DATA_DIR cannot be changed on a disk that is full or became read-only. The processes end nonetheless.
        log(`while stopping: ${(error as Error).message}`);
      }
    }
  };
  try {
    const dataDir = openDataDir(settings.DATA_DIR);
    const claim = await claimDataDir(dataDir, log);
    undo.push(claim.release);
    ({ announceStop } = claim);
    const run = runFile(dataDir);
    run.remove();
    await assertPortFree(settings.HOST, settings.PORT);
    signal.throwIfAborted();

    let publish: () => void = () => undefined;
    const changed = () => publish();
    const { postgres, redis } = await startServers({ settings, dataDir, env, log, changed, signal });
    for (const { supervised } of [postgres, redis]) {
      undo.push(async () => supervised?.stop({ timeoutMs: SERVER_STOP_MS, force }));
    }
    signal.throwIfAborted();

    const baseUrl = deriveBaseUrl(settings);
    const shared: NodeJS.ProcessEnv = {
      ...{ NODE_ENV: 'production', ...env },
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      BASE_URL: baseUrl,
      HOST: settings.HOST,
      PORT: String(settings.PORT),
      SECRET_KEY: loadOrCreateSecretKey(dataDir, settings.SECRET_KEY),
      // The settings above already contain the values of these files.
      ...{ DATABASE_URL_FILE: undefined, REDIS_URL_FILE: undefined, SECRET_KEY_FILE: undefined },
    };
    const admin = (args: string[], input?: string) =>
      runAdmin({ command: commands.admin(args), env: shared, signal, input });
    const migrated = await admin(['migrate']);
    if (!migrated.ok) throw new StartupError(`the migrations failed:\n${migrated.stderr || migrated.stdout}`);
    const database = postgres.supervised ? 'embedded' : postgres.url.replace(/^.*@/, '');
    const demo = await seedDemo({ dataDir, database, created: postgres.created, admin, log });
    signal.throwIfAborted();

    const children: Supervised[] = [];
    const record = () => claim.recordChildren(children.map((child) => child.pid()));
    publish = record;
    const startSupervised = (name: string, command: Command, extra: NodeJS.ProcessEnv = {}) => {
      const start = () => startChild(command, { ...shared, ...extra });
      const child = superviseChild({ name, start, changed, log });
      children.push(child);
      return child;
    };
    undo.push(() => Promise.all(children.map((child) => child.stop({ force }))));
    const api = startSupervised('api', commands.api);
    const workers = Array.from({ length: settings.WORKERS }, (_, index) =>
      startSupervised(`worker ${index + 1}`, commands.worker, { METRICS_PORT: String(settings.METRICS_PORT + index) }),
    );
    record();
    if (commands.reportsReady) {
      const failed = new AbortController();
      const until = AbortSignal.any([signal, failed.signal]);
      // When one fails, the others are not waited for.
      await Promise.all([api, ...workers].map((child) => child.untilReady(until))).finally(() => failed.abort());
    }

    publish = () => {
      record();
      run.write({
        ...{ base_url: baseUrl, database_url: postgres.url, redis_url: redis.url },
        redis_prefix: settings.REDIS_PREFIX,
        pids: {
          ...(postgres.supervised && { postgres: postgres.supervised.pid() }),
          ...(redis.supervised && { redis: redis.supervised.pid() }),
          ...{ api: api.pid(), workers: workers.map((worker) => worker.pid()) },
        },
      });
    };
    publish();
    undo.push(() => {
      // A child that is being restarted must not recreate the file.
      publish = () => undefined;
      run.remove();
    });
    return { welcome: describeStack(baseUrl, demo), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
