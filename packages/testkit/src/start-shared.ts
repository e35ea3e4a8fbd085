import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import type { Host } from '@vat/runtime';
import { PROGRAMS_VARIABLE, programEnvironment, SHARED } from './run-program.js';
import { collectLines, READY_WITHIN_MS, STOP_WITHIN_MS, type TestProcess } from './start-process.js';
import { inherited } from './test-servers.js';

/** What the bundle of all programs exports. */
type Programs = {
  runApi: (host: Host) => Promise<void>;
  runWorker: (host: Host) => Promise<void>;
  answerCommand: (
    words: string[],
    env: NodeJS.ProcessEnv,
    readLine: () => Promise<string>,
  ) => Promise<{ answer: Record<string, unknown>; failed: boolean }>;
  startViesSandbox: (options: { port: number }) => Promise<{ port: number; close: () => Promise<void> }>;
};

/** Loads the programs, once for all files that a worker of jest runs. */
const programs = (): Programs =>
  createRequire(import.meta.url)(path.join(inherited(PROGRAMS_VARIABLE), `${SHARED}.cjs`)) as Programs;

const within = <T>(ms: number, what: () => string, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(what())), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/** Only a process of its own can be killed or frozen. */
const refuseSignal = (signal: NodeJS.Signals): never => {
  throw new Error(`${signal} needs a process of its own: start it with \`ownProcess\``);
};

/**
 * Starts an API or a worker within the process of the test, and waits until it reports that it is ready. It is the whole
 * program with its own connections, but loaded and compiled once for all tests: a process spends most of its few seconds
 * on code that runs for the first time.
 */
export const startShared = async (
  program: 'runApi' | 'runWorker',
  settings: Record<string, string>,
): Promise<TestProcess> => {
  const events = new EventEmitter();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const lines = collectLines([stdout, stderr]);
  let end: (code: number) => void = () => undefined;
  const exited = new Promise<number>((resolve) => {
    end = resolve;
  });
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    const host: Host = {
      ...{ env: programEnvironment(settings), pid: process.pid, stdout, stderr },
      on: (event, listener) => events.on(event, listener),
      exit: end,
      send: (message) => resolve(message as Record<string, unknown>),
    };
    programs()[program](host).catch(reject);
    void exited.then((code) => reject(new Error(`ended with ${code} before it was ready:\n${lines.join('\n')}`)));
  });
  const stop = async () => {
    events.emit('SIGTERM');
    await within(STOP_WITHIN_MS, () => `did not stop in time:\n${lines.join('\n')}`, exited);
  };
  return {
    pid: process.pid,
    ready: await within(READY_WITHIN_MS, () => `was not ready in time:\n${lines.join('\n')}`, ready),
    lines: () => lines,
    signal: (signal) => (signal === 'SIGTERM' ? events.emit(signal) : refuseSignal(signal)),
    exited,
    stop,
  };
};

/** Starts the sandbox of VIES within the process of the test. */
export const startSharedSandbox = async (): Promise<TestProcess> => {
  const { port, close } = await programs().startViesSandbox({ port: 0 });
  let end: (code: number) => void = () => undefined;
  const exited = new Promise<number>((resolve) => {
    end = resolve;
  });
  return {
    ...{ pid: process.pid, ready: { port }, lines: () => [], signal: refuseSignal, exited },
    stop: () => close().then(() => end(0)),
  };
};

/** Runs an admin command within the process of the test and returns its answer. */
export const runSharedCommand = async (words: string[], settings: Record<string, string>) =>
  (await programs().answerCommand(words, programEnvironment(settings), () => Promise.resolve(''))).answer;
