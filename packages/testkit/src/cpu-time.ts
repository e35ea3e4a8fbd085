import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of one thread, in milliseconds; not a number without /proc, or when the thread has ended. */
const threadMs = (pid: number, thread: number | string): number => {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return Number.NaN;
  }
};

/**
 * CPU time of the main thread of a process, in milliseconds. Unlike elapsed time it does not grow while the thread waits for a
 * core, so a limit on it also holds on a loaded machine. Systems without /proc use elapsed time instead.
 */
export const mainThreadMs = (pid: number): number => {
  const ms = threadMs(pid, pid);
  return Number.isNaN(ms) ? performance.now() : ms;
};

/** CPU time of all threads that a process has now, in milliseconds. Systems without /proc use elapsed time instead. */
export const allThreadsMs = (pid: number): number => {
  try {
    const times = readdirSync(`/proc/${pid}/task`).map((thread) => threadMs(pid, thread));
    return times.reduce((sum, ms) => sum + (ms || 0), 0);
  } catch {
    return performance.now();
  }
};

/** CPU seconds that a process and its threads have used; not a number without /proc. The kernel counts in hundredths. */
export const cpuSeconds = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
};

const ROUNDS = 10_000_000;
/** CPU time of {@link ROUNDS} on the EPYC of docs/benchmarks.md, in milliseconds. */
const USUAL_MS = 10;

const computeMs = (): number => {
  const before = mainThreadMs(process.pid);
  let state = 1;
  for (let round = 0; round < ROUNDS; round += 1) state = (Math.imul(state, 1_103_515_245) + round) | 0;
  const ms = mainThreadMs(process.pid) - before;
  // The result is used, so that the loop is not optimised away.
  return state === 0 ? Number.NaN : ms;
};

/**
 * How many times longer than usual a computation takes on this machine right now, at least 1. A slow clock, or a neighbour on the
 * same hardware, lengthens the CPU time of all code alike: a limit in milliseconds is one of the service only when it is
 * multiplied by this.
 */
export const slowness = (): number => Math.max(1, Math.min(...Array.from({ length: 3 }, computeMs)) / USUAL_MS);
