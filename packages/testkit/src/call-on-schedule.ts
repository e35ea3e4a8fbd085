import { runProgram } from './run-program.js';
import type { World } from './start-world.js';

/** A call of the API. `atMs`: when it is sent, after the start of the client; `type`: of its body, JSON by default. */
export type PlannedCall = {
  atMs: number;
  method?: 'GET' | 'POST';
  path: string;
  key: string;
  type?: string;
  body?: string;
};

/** `ms`: from sending the call to the end of its answer. A broken connection has the status 0 and its error as the body. */
export type CallOutcome = { status: number; body: string; ms: number };

/**
 * Sends calls from one client process, each at its time and on a connection of its own, and returns their outcomes in the order
 * of the calls. Thousands of open calls cost the client little, and the process of the test stays free to measure.
 */
export const callOnSchedule = async (
  world: Pick<World, 'baseUrl'>,
  calls: readonly PlannedCall[],
): Promise<CallOutcome[]> => {
  const input = JSON.stringify({ baseUrl: world.baseUrl(), calls });
  const { stdout } = await runProgram('packages/testkit/dist/callers-main.js', [], {}, false, input);
  return JSON.parse(stdout) as CallOutcome[];
};
