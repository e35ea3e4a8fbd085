import { type ChildProcess, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What tells one process from a later one with the same pid. */
export type LiveProcess = { name: string; started: string };

const fromProc = (pid: number): LiveProcess | null => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // "pid (comm) state ppid …"; comm may hold spaces and brackets, so fields are counted from the last bracket.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  // A zombie whose parent does not reap (pid 1 of many containers) still answers kill(pid, 0).
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

const KEEP_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 4_000;

/** A server's log file: `fd` to hand to the process, `tail` what was written since it was opened, `close` our side. */
export type ServerLog = { fd: number; tail: () => string; close: () => void };

/** Opens `file` for appending; beyond 10 MiB the old one is kept as `file.1`, so that it never grows without end. */
export const openLog = (file: string): ServerLog => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > KEEP_BYTES) renameSync(file, `${file}.1`);
  const from = size > KEEP_BYTES ? 0 : size;
  const fd = openSync(file, 'a', 0o600);
  return {
    fd,
    tail: () => readFileSync(file).subarray(from).subarray(-TAIL_BYTES).toString('utf8').trim(),
    close: () => closeSync(fd),
  };
};

// Below every system's ephemeral range (Linux 32768+, others 49152+). A port inside it would be fatal for a server
// that is restarted: a client that keeps dialling the dead port can be given that very port as its own, connect to
// itself, and hold the port so that the server cannot bind it again.
const FIRST = 15_000;
const LAST = 29_999;

/** True when `port` can be bound on `host` now. */
export const isPortFree = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });

/** A port on 127.0.0.1 that nobody listens on, outside the ephemeral range. Throws after 200 tries. */
export const findFreePort = async (): Promise<number> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
};
