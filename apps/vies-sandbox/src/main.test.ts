import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TrafficStats } from './traffic.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

let child: ChildProcess | undefined;
afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  child = undefined;
});

const start = (env: Record<string, string>) => {
  child = fork(MAIN, [], {
    execArgv: ['--conditions=development', '--import', 'tsx'],
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return child;
};

describe('the sandbox as a process', () => {
  test('reports its port over IPC and its address on one line, and ends on SIGTERM with lookups in flight', async () => {
    const started = start({ LATENCY: '10s' });
    const printed = started.stdout ? once(started.stdout, 'data') : Promise.reject(new Error('no stdout'));
    const [[message], [line]] = await Promise.all([once(started, 'message'), printed]);
    expect(message).toEqual({ type: 'ready', port: expect.any(Number) });
    const { url } = JSON.parse(String(line));
    expect(url).toBe(`http://127.0.0.1:${message.port}`);

    const response = fetch(`${url}/check-vat-number`, { method: 'POST', body: '{"countryCode":"FR","vatNumber":"1"}' });
    const totals = async () => ((await (await fetch(`${url}/_control/stats`)).json()) as TrafficStats).totals;
    while ((await totals()).in_flight === 0);
    const failed = expect(response).rejects.toThrow();
    started.kill('SIGTERM');
    expect(await once(started, 'exit')).toEqual([0, null]);
    await failed;
  });

  test('ends when its parent has ended', async () => {
    const started = start({});
    await once(started, 'message');
    started.disconnect();
    expect(await once(started, 'exit')).toEqual([0, null]);
  });

  test('refuses an invalid setting', async () => {
    const [code] = await once(start({ LATENCY: 'soon' }), 'exit');
    expect(code).not.toBe(0);
  });
});
