import supertest from 'supertest';
import { cloneDatabase, openSql } from './clone-database.js';
import { isFullSize } from './fault-size.js';
import { firstAnchorRun } from './first-anchor-run.js';
import { type AccountOptions, insertAccount, type Sql, type TestAccount } from './insert-account.js';
import { runProgram } from './run-program.js';
import { startProcess, type TestProcess } from './start-process.js';
import { runSharedCommand, startShared, startSharedSandbox } from './start-shared.js';
import { inherited, REDIS_VARIABLE, worldName } from './test-servers.js';
import { type ViesControl, viesControl } from './vies-control.js';

export type WorldOptions = {
  /** Settings of every process; they override the short times for tests. */
  settings?: Record<string, string>;
  /** The number of processes to start; more can be started later. */
  apis?: number;
  workers?: number;
  /**
   * Starts a process for each program, for tests that kill or freeze one, measure it, or send it many calls at once. By default
   * all run in the process of the test, where their code is compiled once for many tests; in a full-size run of the fault
   * tests all have their own.
   */
  ownProcesses?: boolean;
  /** Servers to use instead of the run's own, which the test may stop, freeze and kill. */
  servers?: { databaseUrl: string; redisUrl: string };
  /** Makes the address that processes use from that of the database, for a pooler. Workers hold slots directly then. */
  pooledUrlOf?: (databaseUrl: string) => string;
};

/** `program`: another file than the service's own; it runs in a process of its own. */
type StartOptions = { program?: string; ownProcess?: boolean };

/** A complete service for one test file: database, Redis prefix, upstream, API and worker processes. */
export type World = {
  settings: Record<string, string>;
  /** The prefix of its keys in Redis, and also the name of its database. */
  name: string;
  vies: ViesControl;
  viesProcess: TestProcess;
  account: TestAccount;
  apis: TestProcess[];
  workers: TestProcess[];
  baseUrl: () => string;
  /** Calls the first API, by default with the account's live key. */
  http: (key?: string | null) => {
    get: (path: string) => supertest.Test;
    post: (path: string, body?: unknown) => supertest.Test;
    method: (method: 'put' | 'patch' | 'delete' | 'options' | 'head', path: string) => supertest.Test;
  };
  startApi: (settings?: Record<string, string>, options?: StartOptions) => Promise<TestProcess>;
  startWorker: (settings?: Record<string, string>, options?: StartOptions) => Promise<TestProcess>;
  admin: (...words: string[]) => Promise<Record<string, unknown>>;
  newAccount: (options?: AccountOptions) => Promise<TestAccount>;
  sql: Sql;
  stop: () => Promise<void>;
};

/** Settings with short times for tests, long enough for a busy machine. */
const TEST_SETTINGS: Record<string, string> = {
  UPSTREAM_WINDOW: '4s',
  UPSTREAM_ATTEMPT_TIMEOUT: '3s',
  UPSTREAM_RETRY_DELAYS: '100ms,200ms,300ms',
  BACKPRESSURE_AFTER: '400ms',
  BACKGROUND_RETRY_DELAYS: '200ms,400ms',
  PROBE_DELAYS: '100ms,200ms',
  BACKGROUND_GIVE_UP_AFTER: '20s',
  // A sweep costs a world 30 ms of processor time: only tests of what it recovers shorten the interval.
  SWEEP_EVERY: '2s',
  // Five searches for due watches cost a world 20 ms of processor time: only tests of watches shorten the interval.
  WATCHES_EVERY: '1h',
  ENRICHMENT_SOURCES: 'none',
  // Only tests of the rate limit lower these.
  RATE_LIMIT: '100000',
  SESSION_RATE_LIMIT: '100000',
  SECRET_KEY: 'only-for-tests-only-for-tests',
  LOG_LEVEL: 'info',
  PORT: '0',
  METRICS_PORT: '0',
  HOST: '127.0.0.1',
};

/** Starts a world and waits until all its processes are ready. Call `stop` in `afterAll`. */
export const startWorld = async ({
  settings = {},
  apis = 1,
  workers = 1,
  ownProcesses = isFullSize(),
  servers,
  pooledUrlOf,
}: WorldOptions = {}): Promise<World> => {
  const name = worldName();
  const [vies, database] = await Promise.all([
    ownProcesses ? startProcess('apps/vies-sandbox/dist/main.js', { PORT: '0' }) : startSharedSandbox(),
    cloneDatabase(servers?.databaseUrl, name),
  ]);
  const upstream = viesControl(`http://127.0.0.1:${String(vies.ready.port)}`);
  const all = {
    ...TEST_SETTINGS,
    DATABASE_URL: database.url,
    ...(pooledUrlOf && { DATABASE_URL: pooledUrlOf(database.url), SLOTS_DATABASE_URL: database.url }),
    REDIS_URL: servers?.redisUrl ?? inherited(REDIS_VARIABLE),
    REDIS_PREFIX: name,
    VIES_URL: upstream.url,
    ...settings,
  };
  const { sql, close: closeSql } = openSql(database.url);

  const running: { apis: TestProcess[]; workers: TestProcess[] } = { apis: [], workers: [] };
  const start = (
    name: 'api' | 'worker',
    more: Record<string, string>,
    { program, ownProcess = ownProcesses }: StartOptions,
  ): Promise<TestProcess> => {
    const env = { ...all, ...more };
    // Node reads these when it starts.
    const isForNode = Object.entries(env).some(
      ([name, value]) => name.startsWith('NODE_') && value !== process.env[name],
    );
    return program !== undefined || ownProcess || isForNode
      ? startProcess(program ?? `apps/${name}/dist/main.js`, env)
      : startShared(name === 'api' ? 'runApi' : 'runWorker', env);
  };
  const startApi: World['startApi'] = async (more = {}, options = {}) => {
    const api = await start('api', more, options);
    running.apis.push(api);
    return api;
  };
  const startWorker: World['startWorker'] = async (more = {}, options = {}) => {
    const worker = await start('worker', more, options);
    running.workers.push(worker);
    return worker;
  };
  const admin = async (...words: string[]): Promise<Record<string, unknown>> =>
    ownProcesses
      ? JSON.parse((await runProgram('apps/admin/dist/main.js', words, all, true)).stdout)
      : runSharedCommand(words, all);
  const newAccount = (options: AccountOptions = {}) => insertAccount({ sql }, options);
  const stop = async () => {
    await Promise.all([...running.apis, ...running.workers].map((process) => process.stop()));
    await vies.stop();
    await closeSql();
    await database.drop();
  };
  const usesRunsRedis = all.REDIS_URL === inherited(REDIS_VARIABLE);
  const startFirstWorkers = async () => {
    await Promise.all(Array.from({ length: workers }, () => startWorker()));
    if (workers > 0 && usesRunsRedis && settings.WORKER_QUEUES === undefined) await firstAnchorRun(all.REDIS_URL, name);
  };
  const starting = [
    insertAccount({ sql }),
    ...Array.from({ length: apis }, () => startApi()),
    startFirstWorkers(),
  ] as const;
  const [account] = await Promise.all(starting).catch(async (error: unknown) => {
    // The caller never gets this world and cannot stop it. Without this, jest would wait for its processes without end.
    await Promise.allSettled(starting);
    await stop();
    throw error;
  });
  const baseUrl = () => String(running.apis[0]?.ready.base_url);

  return {
    settings: all,
    name,
    vies: upstream,
    viesProcess: vies,
    account,
    ...running,
    baseUrl,
    startApi,
    startWorker,
    admin,
    newAccount,
    http: (key = account.live_key) => {
      const agent = supertest(baseUrl());
      const signed = (test: supertest.Test) => (key === null ? test : test.set('Authorization', `Bearer ${key}`));
      return {
        get: (path) => signed(agent.get(path)),
        post: (path, body) =>
          body === undefined ? signed(agent.post(path)) : signed(agent.post(path)).send(body as object),
        method: (method, path) => signed(agent[method](path)),
      };
    },
    sql,
    stop,
  };
};
