import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What a flood consists of. In `email`, `password` and `from` (X-Forwarded-For), `{n}` is the number of the try, and `{hex}` that number modulo 10 000 in hexadecimal. */
export type FloodPlan = { url: string; perSecond: number; email: string; password: string; from: string };

/** What the flood has done so far: sign-ins sent, and answers by status. */
export type FloodReport = { sent: number; ms: number; statuses: Record<string, number> };

const PROGRAM = new URL('./flood-program.fixture.ts', import.meta.url);

/** Runs a flood of sign-ins in a process of its own, which does not delay the calls that the test times. */
export const openFlood = (plan: FloodPlan) => {
  const child = fork(PROGRAM, [JSON.stringify(plan)], { execArgv: ['--import', 'tsx'] });
  const ended = once(child, 'exit');
  let report: FloodReport = { sent: 0, ms: 0, statuses: {} };
  child.on('message', (message) => {
    report = message as FloodReport;
  });
  return {
    report: () => report,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
};
