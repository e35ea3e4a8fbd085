import { setTimeout as wait } from 'node:timers/promises';

/** A signal, and how long its effect is waited for. */
export type StopStep = { signal: NodeJS.Signals; timeoutMs: number };

type StopProcess = { pid: number; exited: Promise<unknown>; steps: StopStep[]; force?: AbortSignal | undefined };

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already; `exited` tells.
  }
};

const untilAborted = (signal: AbortSignal, until: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: until }));

/**
 * Ends a process: each step's signal in turn until it is gone, then SIGKILL. Aborting `force` skips to SIGKILL.
 * A process held by SIGSTOP is let go on after each signal, since it could not act on it otherwise.
 */
export const stopProcess = async ({ pid, exited, steps, force }: StopProcess): Promise<void> => {
  let gone = false;
  const exit = exited.then(() => {
    gone = true;
  });
  // `exited` may hang on an unreferenced timer or child: without this Node would end in the middle of the wait.
  const hold = setInterval(() => undefined, 60_000);
  try {
    for (const { signal, timeoutMs } of steps) {
      if (force?.aborted) break;
      send(pid, signal);
      send(pid, 'SIGCONT');
      const cancel = new AbortController();
      const timeUp = wait(timeoutMs, undefined, { signal: cancel.signal }).catch(() => undefined);
      await Promise.race([exit, timeUp, ...(force ? [untilAborted(force, cancel.signal)] : [])]);
      cancel.abort();
      if (gone) return;
    }
    send(pid, 'SIGKILL');
    await exit;
  } finally {
    clearInterval(hold);
  }
};
