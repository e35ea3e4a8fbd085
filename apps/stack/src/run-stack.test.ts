import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findFreePort, inspectProcess, startRedis } from '@vat/embedded';
import { until } from '@vat/testkit';
import type { RunState } from './data-dir.js';
import { fakeApps } from './testing/fake-apps.js';

const searchPath = [path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(path.delimiter);
const binDir = path.resolve(import.meta.dirname, '../../../.data/redis-bin');

// Whole stacks, each in its own process.

describe('runStack', () => {
  let home: string;
  let dataDir: string;
  let port: number;
  let apps: ReturnType<typeof fakeApps>;
  const runs: { child: ChildProcess; stderr: () => string; stdout: () => string }[] = [];

  beforeAll(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'vat-run-stack-'));
    dataDir = path.join(home, 'data');
    port = await findFreePort();
    await (await startRedis({ dataDir, binDir, durable: false })).stop();
    if (existsSync(binDir)) symlinkSync(binDir, path.join(dataDir, 'redis-bin'));
  });
  beforeEach(() => {
    apps = fakeApps(path.join(home, 'apps'));
  });
  afterEach(async () => {
    for (const { child } of runs.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const run = (env: NodeJS.ProcessEnv = {}) => {
    const { api, worker, admin } = apps.commands;
    const source = `
      import { runStack } from ${JSON.stringify(path.join(import.meta.dirname, 'run-stack.ts'))};
      const { api, worker, admin } = ${JSON.stringify({ api, worker, admin: admin([]) })};
      const commands = { api, worker, admin: (args) => ({ ...admin, args: [...admin.args, ...args] }), reportsReady: true };
      process.exit(await runStack({ env: process.env, commands, endWithParent: process.env.UNDER === 'sh' }));`;
    const command = [
      process.execPath,
      '--conditions=development',
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      source,
    ];
    // "; exit" keeps any shell from replacing itself with its last command.
    const [file = '', ...args] = env['UNDER'] === 'sh' ? ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...command] : command;
    const child = spawn(file, args, {
      env: { PATH: searchPath, DATA_DIR: dataDir, PORT: String(port), EVENTS: apps.eventsFile, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      text.stdout += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      text.stderr += String(chunk);
    });
    const started = { child, stdout: () => text.stdout, stderr: () => text.stderr };
    runs.push(started);
    return started;
  };
  const ready = async (env?: NodeJS.ProcessEnv) => {
    const started = run(env);
    await until(`the stack to be ready (${started.stderr()})`, () => started.stdout().includes('is ready'));
    const state = JSON.parse(readFileSync(path.join(dataDir, 'run.json'), 'utf8')) as RunState;
    return { ...started, state };
  };
  const pidsOf = ({ pids }: RunState) => [pids.postgres ?? 0, pids.redis ?? 0, pids.api, ...pids.workers];
  const alive = (pids: number[]) => pids.filter((pid) => inspectProcess(pid) !== null);

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'stops everything in order and exits with 0 on %s, which may arrive twice at once',
    async (signal) => {
      const { child, state, stderr } = await ready();
      const began = Date.now();
      child.kill(signal);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(Date.now() - began).toBeLessThan(15_000);
      expect(alive(pidsOf(state))).toEqual([]);
      expect(
        apps
          .events()
          .filter((event) => event.includes('terminated'))
          .sort(),
      ).toEqual(['api terminated redis=up postgres=up', 'worker terminated redis=up postgres=up']);
      expect(stderr()).toMatch(/^\[stack\] stopping: [^\n]*\n$/);
    },
  );

  it('starts on the same directory and port after kill -9 of everything', async () => {
    const first = await ready();
    for (const pid of [first.child.pid ?? 0, ...pidsOf(first.state)]) process.kill(pid, 'SIGKILL');
    await once(first.child, 'exit');
    const second = await ready();
    expect(second.state).toMatchObject({ database_url: first.state.database_url, redis_url: first.state.redis_url });
    expect(alive(pidsOf(second.state))).toHaveLength(4);
    expect(second.stdout()).toBe(first.stdout());
  });

  it('starts after kill -9 of only the supervisor: servers are reused, remaining children end first', async () => {
    const first = await ready();
    first.child.kill('SIGKILL');
    const second = await ready();
    expect(second.state.pids).toMatchObject({ postgres: first.state.pids.postgres, redis: first.state.pids.redis });
    expect(alive([first.state.pids.api, ...first.state.pids.workers])).toEqual([]);
    expect(alive(pidsOf(second.state))).toHaveLength(4);
    second.child.kill('SIGINT');
    expect(await once(second.child, 'exit')).toEqual([0, null]);
    expect(alive(pidsOf(second.state))).toEqual([]);
  });

  it('ends with the shell of npm, which does not forward SIGTERM; a start at that time waits for the end', async () => {
    const first = await ready({ UNDER: 'sh' });
    const shell = first.child;
    shell.kill('SIGTERM');
    expect(await once(shell, 'exit')).toEqual([null, 'SIGTERM']);
    const second = await ready();
    expect(alive(pidsOf(first.state))).toEqual([]);
    expect(alive(pidsOf(second.state))).toHaveLength(4);
    expect(apps.events().filter((event) => event.includes('terminated'))).toHaveLength(2);
  });

  it('reports each invalid setting in one line, including those of its children, and exits with 1', async () => {
    const { child, stderr } = run({ PORT: 'eighty', UPSTREAM_WINDOW: 'soon' });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(stderr()).toMatch(
      /^\[stack\] cannot start: these settings cannot be used:\n {2}PORT: [^\n]+\n {2}UPSTREAM_WINDOW: [^\n]+\n$/,
    );
  });
});
