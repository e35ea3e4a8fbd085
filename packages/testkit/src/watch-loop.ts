import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { mainThreadMs } from './cpu-time.js';
import type { World } from './start-world.js';

/** Without a pause, measuring would take more processor time than what is measured. */
const PAUSE_MS = 5;

const answered = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (res) => res.resume().once('end', resolve).once('error', reject)).once('error', reject);
  });

/**
 * Measures the longest turn of the first API's event loop from outside. It calls `GET /healthz` every few milliseconds; the CPU
 * time of the main thread between two answers is an upper bound for the turn that the later one waited for. `stop` resolves to
 * the maximum, in milliseconds.
 */
export const watchLoop = (world: Pick<World, 'baseUrl' | 'apis'>): { stop: () => Promise<number> } => {
  const [api] = world.apis;
  if (api === undefined) throw new Error('The world has no API.');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let stopped = false;
  let longest = 0;
  const watching = (async () => {
    let before = mainThreadMs(api.pid);
    while (!stopped) {
      await answered(`${world.baseUrl()}/healthz`, agent);
      const after = mainThreadMs(api.pid);
      longest = Math.max(longest, after - before);
      before = after;
      await pause(PAUSE_MS);
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
