import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { findFreePort, inspectProcess, isPortFree, startRedis } from '@vat/embedded';
import { WRONG_SETTINGS } from '@vat/runtime';
import { until } from '@vat/testkit';
import type { RunState } from './data-dir.js';
import { readStackSettings } from './read-settings.js';
import { type Stack, startStack } from './start-stack.js';
import { fakeApps } from './testing/fake-apps.js';

const searchPath = [path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(path.delimiter);
const binDir = path.resolve(import.meta.dirname, '../../../.data/redis-bin');

// Whole stacks: two servers and three programs each.

describe('startStack', () => {
  let home: string;
  let dataDir: string;
  let apps: ReturnType<typeof fakeApps>;
  let logged: string[];
  const stacks: Stack[] = [];
  const squatters: Server[] = [];

  beforeAll(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'vat-stack-'));
    dataDir = path.join(home, 'data');
    // Downloaded once for each clone, and shared.
    await (await startRedis({ dataDir, binDir, durable: false })).stop();
    if (existsSync(binDir)) symlinkSync(binDir, path.join(dataDir, 'redis-bin'));
  });
  beforeEach(() => {
    apps = fakeApps(path.join(home, 'apps'));
    logged = [];
  });
  afterEach(async () => {
    for (const stack of stacks.splice(0)) await stack.stop();
    for (const squatter of squatters.splice(0)) await new Promise((resolve) => squatter.close(resolve));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const never = new AbortController().signal;
  const start = async (env: NodeJS.ProcessEnv = {}, signal = never, force = never) => {
    const full = {
      PATH: searchPath,
      DATA_DIR: dataDir,
      EVENTS: apps.eventsFile,
      PORT: String(await findFreePort()),
      ...env,
    };
    const stack = await startStack({
      ...{ settings: readStackSettings(full), env: full, commands: apps.commands, signal, force },
      log: (line) => logged.push(line),
    });
    stacks.push(stack);
    return stack;
  };
  const running = () =>
    JSON.parse(readFileSync(path.join(dataDir, 'run.json'), 'utf8')) as Required<RunState> & {
      pids: { postgres: number; redis: number };
    };
  const pidsOf = ({ pids }: ReturnType<typeof running>) => [pids.postgres, pids.redis, pids.api, ...pids.workers];

  it('starts everything in order, prints the addresses, and stops it in order', async () => {
    const port = await findFreePort();
    const stack = await start({ PORT: String(port), WORKERS: '2', METRICS_PORT: '19464' });
    const state = running();
    expect(Object.keys(state).sort()).toEqual([
      'base_url',
      'data_dir',
      'database_url',
      'pids',
      'redis_prefix',
      'redis_url',
    ]);
    expect(Object.keys(state.pids).sort()).toEqual(['api', 'postgres', 'redis', 'workers']);
    expect(state.base_url).toBe(`http://127.0.0.1:${port}`);
    expect(state.pids.workers).toHaveLength(2);
    expect(pidsOf(state).map((pid) => inspectProcess(pid) !== null)).toEqual([true, true, true, true, true]);
    expect(await (await fetch(state.base_url)).text()).toBe(String(state.pids.api));
    expect(statSync(path.join(dataDir, 'run.json')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(dataDir, 'secret_key')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600);
    expect(stack.welcome).toMatch(/vat_live_1[\s\S]*curl .*\/v1\/checks .*vat_test_1.*DE100/);

    const began = Date.now();
    await stack.stop();
    expect(Date.now() - began).toBeLessThan(15_000);
    const events = apps.events();
    expect(events.slice(0, 2)).toEqual(['migrate redis=up postgres=up', 'account create redis=up postgres=up']);
    expect(events.slice(2, 5).sort()).toEqual([
      expect.stringMatching(`^api started .*http://127.0.0.1:${port} 44$`),
      expect.stringMatching('^worker started 19464 '),
      expect.stringMatching('^worker started 19465 '),
    ]);
    expect(events.slice(5).sort()).toEqual([
      'api terminated redis=up postgres=up',
      'worker terminated redis=up postgres=up',
      'worker terminated redis=up postgres=up',
    ]);
    expect(pidsOf(state).map((pid) => inspectProcess(pid))).toEqual([null, null, null, null, null]);
    expect(existsSync(path.join(dataDir, 'run.json'))).toBe(false);
    expect(await isPortFree(port)).toBe(true);
  });

  it('creates the demo account once, and prints the same keys and addresses later', async () => {
    const port = String(await findFreePort());
    const first = await start({ PORT: port });
    const before = running();
    // The part of the command that every user of the machine can see.
    const { args, input } = JSON.parse(readFileSync(`${apps.eventsFile}.account`, 'utf8'));
    expect(args.slice(args.indexOf('--password'), args.indexOf('--password') + 2)).toEqual(['--password', '-']);
    expect(first.welcome).toContain(`demo@example.com / ${input.trim()}`);
    expect(args.join(' ')).not.toContain(input.trim());
    await first.stop();
    const second = await start({ PORT: port });
    expect(second.welcome).toBe(first.welcome);
    expect(running()).toMatchObject({ database_url: before.database_url, redis_url: before.redis_url });
  });

  it.each([
    ['api', (state: RunState) => state.pids.api],
    ['worker', (state: RunState) => state.pids.workers[0]],
    ['postgres', (state: RunState) => state.pids.postgres],
    ['redis', (state: RunState) => state.pids.redis],
  ])('restarts a killed %s, logs it, and updates run.json', async (name, pidIn) => {
    await start();
    const before = running();
    const killed = pidIn(before) ?? 0;
    process.kill(killed, 'SIGKILL');
    await until('run.json to name another process', () => pidIn(running()) !== killed);
    const after = running();
    expect(inspectProcess(pidIn(after) ?? 0)).not.toBeNull();
    expect(logged.join('\n').toLowerCase()).toMatch(new RegExp(`${name}.* ended \\(sigkill\\); restarting in`));
    expect({ ...after, pids: null }).toEqual({ ...before, pids: null });
    // The other processes were not restarted.
    expect(pidsOf(after).filter((pid) => !pidsOf(before).includes(pid))).toHaveLength(1);
    await until('the api to answer', async () => (await fetch(after.base_url).catch(() => null))?.ok);
  });

  it('does not restart a process that is only stopped by SIGSTOP, and can still end it', async () => {
    const stack = await start();
    const before = running();
    process.kill(before.pids.redis, 'SIGSTOP');
    process.kill(before.pids.workers[0] ?? 0, 'SIGSTOP');
    // A supervisor that mistakes a stopped process for an ended one would have restarted it before a killed one is
    // back.
    process.kill(before.pids.api, 'SIGKILL');
    const after = await until('the api to be back', () =>
      running().pids.api !== before.pids.api ? running() : undefined,
    );
    expect(after.pids).toMatchObject({ redis: before.pids.redis, workers: before.pids.workers });
    const began = Date.now();
    process.kill(before.pids.redis, 'SIGCONT');
    await stack.stop();
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(pidsOf(after).map((pid) => inspectProcess(pid))).toEqual([null, null, null, null]);
  });

  it('refuses a second stack on the same directory without affecting the first', async () => {
    await start();
    const before = running();
    await expect(start()).rejects.toThrow(/another npm start \(pid \d+\) uses DATA_DIR/);
    expect(running()).toEqual(before);
  });

  it('waits until a stopping stack has finished its jobs, and then starts', async () => {
    const draining = path.join(home, 'draining');
    writeFileSync(draining, '');
    const first = await start({ DRAINING: draining });
    const stopped = first.stop();
    const second = start();
    await until('the second to report that it waits', () =>
      logged.some((line) => line.startsWith('waiting for the stack')),
    );
    expect(apps.events().filter((event) => event.includes('terminated'))).toEqual([]);
    rmSync(draining);
    await stopped;
    await second;
    expect(inspectProcess(running().pids.api)).not.toBeNull();
  });

  it('refuses a directory whose claim it cannot read, such as that of another user', async () => {
    const lock = path.join(dataDir, 'stack.lock');
    // Not a mode, which root may ignore.
    symlinkSync(lock, lock);
    await expect(start()).rejects.toThrow(/stack\.lock cannot be read \(ELOOP\): start as the user who started last/);
    expect(lstatSync(lock).isSymbolicLink()).toBe(true);
    rmSync(lock);
  });

  it('stops everything when a file of the directory cannot be removed, as on a disk that became read-only', async () => {
    const stack = await start();
    const pids = pidsOf(running());
    const file = path.join(dataDir, 'run.json');
    rmSync(file);
    mkdirSync(file);
    await stack.stop();
    rmdirSync(file);
    expect(pids.map((pid) => inspectProcess(pid))).toEqual(pids.map(() => null));
    expect(logged).toContainEqual(expect.stringMatching(/^while stopping: /));
    expect(existsSync(path.join(dataDir, 'stack.lock'))).toBe(false);
  });

  it('takes over a claim whose pid now belongs to another process', async () => {
    const claim = {
      pid: process.pid,
      started: 'at another time',
      children: [{ pid: process.pid, started: 'at another time' }],
    };
    writeFileSync(path.join(dataDir, 'stack.lock'), JSON.stringify(claim));
    writeFileSync(path.join(dataDir, 'run.json'), '{}');
    await start();
    expect(running().pids.api).toBeGreaterThan(0);
    expect(logged).toEqual([]);
  });

  it.each([
    [
      'a port in use',
      async () => {
        const squatter = createServer().listen(0, '127.0.0.1');
        squatters.push(squatter);
        await once(squatter, 'listening');
        return { PORT: String((squatter.address() as { port: number }).port) };
      },
      /^port \d+ on 127\.0\.0\.1 is in use: /,
    ],
    [
      'a host that is not an address of this machine',
      async () => ({ HOST: '192.0.2.1' }),
      /HOST 192\.0\.2\.1 is not an address of this machine/,
    ],
    [
      'a DATA_DIR below a file',
      async () => ({ DATA_DIR: path.join(apps.eventsFile, 'data') }),
      /DATA_DIR .* cannot be written \(ENOTDIR\)/,
    ],
    [
      'a DATA_DIR that no folder can be created for',
      async () => ({ DATA_DIR: '/proc/none/data' }),
      /DATA_DIR \/proc\/none\/data cannot be written \(ENOENT\)/,
    ],
    [
      'a DATABASE_URL that does not answer',
      async () => ({ DATABASE_URL: `postgresql://u:hidden@127.0.0.1:${await findFreePort()}/vat` }),
      /^DATABASE_URL \(127\.0\.0\.1:\d+\/vat\) does not answer: .*ECONNREFUSED/,
    ],
    [
      'a DATABASE_URL of another kind',
      async () => ({ DATABASE_URL: 'mysql://u:hidden@h/vat' }),
      /DATABASE_URL: expected an address like postgresql/,
    ],
    [
      'a secret with both forms set',
      async () => ({ SECRET_KEY: 'hidden, and long enough', SECRET_KEY_FILE: '/hidden' }),
      /SECRET_KEY: set SECRET_KEY or SECRET_KEY_FILE, not both/,
    ],
    [
      'a missing secret file',
      async () => ({ DATABASE_URL_FILE: path.join(home, 'hidden') }),
      /DATABASE_URL: the file of DATABASE_URL_FILE cannot be read \(ENOENT\)/,
    ],
    [
      'a REDIS_URL that does not answer',
      async () => ({ REDIS_URL: `redis://:hidden@127.0.0.1:${await findFreePort()}/0` }),
      /^REDIS_URL \(127\.0\.0\.1:\d+\/0\) does not answer: .*ECONNREFUSED/,
    ],
    ['a failing migration', async () => ({ FAIL: 'migrate' }), /^the migrations failed:\nit is broken/],
    [
      'an api that cannot start',
      async () => ({ FAIL: 'api' }),
      /^api ended 3 times before it was ready \(exit code 7\)/,
    ],
    [
      'an api that cannot start, while the worker is not ready',
      async () => ({ FAIL: 'api', NEVER_READY: 'worker' }),
      /^api ended 3 times before it was ready \(exit code 7\)/,
    ],
    [
      'a worker with a wrong setting that it alone reads',
      async () => ({ FAIL: 'worker', FAIL_WITH: String(WRONG_SETTINGS) }),
      /^the settings of worker 1 cannot be used; see its output above$/,
    ],
  ])('fails with one clear message on %s, and leaves nothing running', async (_what, makeEnv, message) => {
    const failure = await start(await makeEnv()).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'StartupError', message: expect.stringMatching(message) });
    expect((failure as Error).message).not.toContain('hidden');
    expect(existsSync(path.join(dataDir, 'stack.lock'))).toBe(false);
    expect(existsSync(path.join(dataDir, 'run.json'))).toBe(false);
    for (const { port } of ['postgres', 'redis']
      .map((name) => path.join(dataDir, `${name}.json`))
      .filter((file) => existsSync(file))
      .map((file) => JSON.parse(readFileSync(file, 'utf8')) as { port: number })) {
      expect(await isPortFree(port)).toBe(true);
    }
  });

  it('continues without a demo account if one already exists, with existing servers', async () => {
    const fileOf = (name: string, content: string) => {
      const file = path.join(home, name);
      writeFileSync(file, `${content}\n`);
      return file;
    };
    const stack = await start();
    const { database_url, redis_url } = running();
    const other = path.join(home, 'other');
    const own = await start({
      DATA_DIR: other,
      DATABASE_URL_FILE: fileOf('database_url', database_url),
      REDIS_URL: redis_url,
      SECRET_KEY_FILE: fileOf('secret_key', 'twenty-six characters, done'),
      ACCOUNT_EXISTS: 'yes',
    });
    expect(apps.events().at(-1)).toMatch(/started .* 27$/);
    expect(logged).toEqual(['no demo account was created: that account exists']);
    expect(own.welcome).toMatch(/No demo account\./);
    const state = JSON.parse(readFileSync(path.join(other, 'run.json'), 'utf8')) as RunState;
    expect(Object.keys(state.pids).sort()).toEqual(['api', 'workers']);
    expect(state).toMatchObject({ database_url, redis_url });
    await own.stop();
    expect(inspectProcess(running().pids.postgres)).not.toBeNull();
    await stack.stop();
  });

  it('stops everything it has started when it is aborted before it is ready', async () => {
    const stopping = new AbortController();
    const starting = start({}, stopping.signal).catch((error: Error) => error);
    await until('the migrations to run', () => apps.events().length > 0);
    stopping.abort();
    expect(await starting).toMatchObject({ name: 'AbortError' });
    expect(existsSync(path.join(dataDir, 'stack.lock'))).toBe(false);
  });
});
