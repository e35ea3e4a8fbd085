import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { inspectProcess } from './inspect-process.js';

const POLL_MS = 250;

/**
 * Resolves with a short reason ("exit code 1", "SIGKILL", "gone") once the process is gone; never rejects. Give the child
 * itself when it is ours; give the pid for a process that an earlier parent left, which can only be looked at.
 */
export const waitForExit = async (subject: ChildProcess | number): Promise<string> => {
  if (typeof subject !== 'number') {
    const reason = (code: number | null, signal: string | null) => signal ?? `exit code ${code ?? 'unknown'}`;
    if (subject.exitCode !== null || subject.signalCode !== null) return reason(subject.exitCode, subject.signalCode);
    return new Promise((resolve) => {
      subject.once('exit', (code, signal) => resolve(reason(code, signal)));
      subject.once('error', (error) => resolve(error.message));
    });
  }
  const born = inspectProcess(subject)?.started;
  while (born !== undefined && inspectProcess(subject)?.started === born) {
    // Not referenced: watching a server must not keep a process alive that has nothing else to do.
    await wait(POLL_MS, undefined, { ref: false });
  }
  return 'gone';
};
