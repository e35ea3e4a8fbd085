import { spawn } from 'node:child_process';
import { stopProcess, waitForExit } from '@vat/embedded';
import type { Running } from './running.js';

/** A program with its arguments. */
export type Command = { file: string; args: string[] };

/** A child of ours; `ready` resolves when it says so over IPC, and stays pending when it ends before. */
export type Child = Running & { ready: Promise<void> };

const GRACE_MS = 10_000;

/**
 * Starts a process of the service. It shares our output, and talks over IPC: it sends `{type: 'ready'}`, and takes the loss
 * of the channel (we were killed) as a request to end. It has a session of its own, so that Ctrl-C reaches it through us alone
 * and the servers below it are still there while it puts its work back.
 */
export const startChild = ({ file, args }: Command, env: NodeJS.ProcessEnv): Child => {
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const pid = child.pid ?? 0;
  const exited = waitForExit(child);
  // Sending to a child that just died is reported here; its end is what counts, and that is watched.
  child.on('error', () => undefined);
  return {
    pid,
    exited,
    ready: new Promise((resolve) => {
      child.on('message', (message: { type?: unknown }) => {
        if (message?.type === 'ready') resolve();
      });
    }),
    stop: async ({ timeoutMs = GRACE_MS, force } = {}) => {
      // Without a pid there never was a process, and signals to pid 0 would reach ourselves.
      if (pid === 0) return;
      await stopProcess({ pid, exited, force, steps: [{ signal: 'SIGTERM', timeoutMs }] });
    },
  };
};
