import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { World } from './start-world.js';

/**
 * Milliseconds that the main thread of a process has been on a core. Unlike the time on the clock it does not grow while the
 * thread waits for a core that other processes use, so that a bound on it holds on a loaded machine too. On systems without
 * /proc the clock has to do.
 */
const mainThreadMs = (pid: number): number => {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return performance.now();
  }
};

const answered = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (res) => res.resume().once('end', resolve).once('error', reject)).once('error', reject);
  });

/**
 * Measures the longest turn of the first API's event loop, from outside: `GET /healthz` is called over and over, and what the
 * process's main thread computes between a call and its answer is at least what the turn that the call waited for computed.
 * `stop` resolves to the highest of these, in milliseconds.
 */
export const watchLoop = (world: Pick<World, 'baseUrl' | 'apis'>): { stop: () => Promise<number> } => {
  const [api] = world.apis;
  if (api === undefined) throw new Error('The world has no API.');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let stopped = false;
  let longest = 0;
  const watching = (async () => {
    while (!stopped) {
      const before = mainThreadMs(api.pid);
      await answered(`${world.baseUrl()}/healthz`, agent);
      longest = Math.max(longest, mainThreadMs(api.pid) - before);
      await nextTurn();
    }
    agent.destroy();
  })();
  return {
    stop: async () => {
      stopped = true;
      await watching;
      return longest;
    },
  };
};
