import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { PRODUCTION_VARIABLE, PROGRAM_FLAGS, programEnvironment, programFile } from './run-program.js';

export type TestProcess = {
  pid: number;
  /** The message that it sent when it was ready: `base_url`, `metrics_port` or `port`. */
  ready: Record<string, unknown>;
  /** Its log lines so far. */
  lines: () => string[];
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves to the exit code or the signal when it has ended. */
  exited: Promise<number | NodeJS.Signals | null>;
  /** Sends SIGTERM and waits; sends SIGKILL after a time limit. */
  stop: () => Promise<void>;
};

export const READY_WITHIN_MS = 30_000;
export const STOP_WITHIN_MS = 15_000;

/** Adds the lines of each stream to one list. */
export const collectLines = (streams: readonly (Readable | null)[]): string[] => {
  const lines: string[] = [];
  for (const stream of streams) {
    let rest = '';
    stream?.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
  }
  return lines;
};

/**
 * Starts a program of the repository and waits until it reports that it is ready. Where {@link PRODUCTION_VARIABLE} is `yes`, it
 * runs without {@link PROGRAM_FLAGS}.
 */
export const startProcess = async (file: string, settings: Record<string, string>): Promise<TestProcess> => {
  const flags = process.env[PRODUCTION_VARIABLE] === 'yes' ? [] : PROGRAM_FLAGS;
  const child = spawn(process.execPath, [...flags, programFile(file)], {
    env: programEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines = collectLines([child.stdout, child.stderr]);
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${file} was not ready in time:\n${lines.join('\n')}`)),
      READY_WITHIN_MS,
    );
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message as Record<string, unknown>);
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${file} ended with ${code} before it was ready:\n${lines.join('\n')}`));
    });
  });
  return {
    pid: child.pid ?? 0,
    ready,
    lines: () => lines,
    signal: (signal) => child.kill(signal),
    exited,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(timer);
    },
  };
};
