import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Distinguishes a process from a later one with the same pid. */
type LiveProcess = { name: string; started: string };

const fromProc = (pid: number): LiveProcess | null => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // "pid (comm) state ppid …"; comm may contain spaces and brackets, so fields are counted from the last bracket.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  // kill(pid, 0) succeeds for a zombie whose parent does not reap it (pid 1 of many containers).
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return { name: stat.slice(stat.indexOf('(') + 1, end), started: fields[19] ?? '' };
};

const fromPs = (pid: number): LiveProcess | null => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=,comm=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  const [, state = 'Z', started = '', name = ''] =
    /^\s*(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*?)\s*$/.exec(stdout ?? '') ?? [];
  return state.startsWith('Z') ? null : { name, started };
};

/** The living process `pid`, or null when there is none (a zombie counts as none). Never throws. */
export const inspectProcess = (pid: number): LiveProcess | null =>
  process.platform === 'linux' ? fromProc(pid) : fromPs(pid);

/** A signal, and how long to wait for the process to end. */
type StopStep = { signal: NodeJS.Signals; timeoutMs: number };

type StopProcess = { pid: number; exited: Promise<unknown>; steps: StopStep[]; force?: AbortSignal | undefined };

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended; `exited` resolves.
  }
};

const untilAborted = (signal: AbortSignal, until: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: until }));

/**
 * Ends a process: sends the signal of each step in turn until the process has ended, then SIGKILL. Aborting `force` skips
 * to SIGKILL. SIGCONT follows each signal, since a process stopped by SIGSTOP could not handle it otherwise.
 */
export const stopProcess = async ({ pid, exited, steps, force }: StopProcess): Promise<void> => {
  let ended = false;
  const exit = exited.then(() => {
    ended = true;
  });
  // `exited` may depend on an unreferenced timer or child; this timer keeps Node running until it resolves.
  const keepAlive = setInterval(() => undefined, 60_000);
  try {
    // Another process may have the pid of one that has ended.
    await Promise.race([exit, new Promise(setImmediate)]);
    if (ended) return;
    for (const { signal, timeoutMs } of steps) {
      if (force?.aborted) break;
      send(pid, signal);
      send(pid, 'SIGCONT');
      const cancel = new AbortController();
      const timeUp = wait(timeoutMs, undefined, { signal: cancel.signal }).catch(() => undefined);
      await Promise.race([exit, timeUp, ...(force ? [untilAborted(force, cancel.signal)] : [])]);
      cancel.abort();
      if (ended) return;
    }
    send(pid, 'SIGKILL');
    await exit;
  } finally {
    clearInterval(keepAlive);
  }
};

const POLL_MS = 250;

/**
 * Resolves with a short reason ("exit code 1", "SIGKILL", "gone") once the process has ended; never rejects. Takes the child
 * of this process, or the pid of a process with another parent, which is polled.
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
  const started = inspectProcess(subject)?.started;
  while (started !== undefined && inspectProcess(subject)?.started === started) {
    // Not referenced, so that this wait alone does not keep the process running.
    await wait(POLL_MS, undefined, { ref: false });
  }
  return 'gone';
};

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 4_000;

/** A server's log file. `fd`: for the process; `tail`: the end of what was written since it was opened; `close`: closes `fd`. */
type ServerLog = { fd: number; tail: () => string; close: () => void };

/** Opens `file` for appending; a file beyond 10 MiB is first renamed to `file.1`, so that the log is bounded. */
const openLog = (file: string): ServerLog => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  const from = size > MAX_LOG_BYTES ? 0 : size;
  const fd = openSync(file, 'a', 0o600);
  return {
    fd,
    tail: () => readFileSync(file).subarray(from).subarray(-TAIL_BYTES).toString('utf8').trim(),
    close: () => closeSync(fd),
  };
};

/** How long a started server may take until it is ready. */
const READY_MS = 60_000;

/** `isReady`: probes the server once. `stop`: ends one that does not become ready. */
type Launch = {
  command: readonly [string, ...string[]];
  options: SpawnOptions;
  logFile: string;
  isReady: (pid: number) => Promise<boolean>;
  stop: StopStep;
};

/** A server that is ready, or the reason from its log why it is not. */
export type Launched = { pid: number; exited: Promise<string> } | { failure: string };

/** Starts a server process and waits until it is ready or has ended. */
export const launchServer = async ({ command, options, logFile, isReady, stop }: Launch): Promise<Launched> => {
  const [file, ...args] = command;
  const output = openLog(logFile);
  // Detached, in its own session: Ctrl-C in the terminal must not stop it before the workers have returned their jobs.
  const child = spawn(file, args, { ...options, stdio: ['ignore', output.fd, output.fd], detached: true });
  child.unref();
  output.close();
  const { pid } = child;
  const exited = waitForExit(child);
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (ended || pid === undefined) return { failure: output.tail() || (await exited) };
    // Another server may respond on the port; then this one cannot bind it, ends at once, and logs the reason.
    if ((await isReady(pid)) && !ended) return { pid, exited };
    await wait(20);
  }
  await stopProcess({ pid: pid ?? 0, exited, steps: [stop] });
  return { failure: `not ready after ${READY_MS / 1000} s: ${output.tail()}` };
};

// Below the ephemeral range of every system (Linux 32768+, others 49152+). In that range, a client that reconnects to the
// port of a stopped server can get the same port as its local one, connect to itself, and thereby prevent the server from
// binding the port again.
const MIN_PORT = 15_000;
const MAX_PORT = 29_999;

/** True when `port` can be bound on `host` now. */
export const isPortFree = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });

/** A free port on 127.0.0.1 below the ephemeral range. Throws after 200 attempts. */
export const findFreePort = async (): Promise<number> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port between ${MIN_PORT} and ${MAX_PORT}`);
};
