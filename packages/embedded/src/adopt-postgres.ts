import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inspectProcess } from './inspect-process.js';
import { probePostgres } from './probe-postgres.js';
import type { Access } from './remembered-access.js';

const PATIENCE_MS = 30_000;
const HANGING_PROBES = 3;

const readPidFile = (file: string): { pid: number; port: number; lines: string[] } | null => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, port: Number(lines[3]), lines } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/**
 * Takes over the server that a killed parent left on `cluster`, waiting while it starts, recovers or ends. One that hangs (a
 * SIGSTOP) is killed. Returns its pid and port, or null when the cluster is free to be started.
 */
export const adoptPostgres = async (
  cluster: string,
  password: Access['password'],
): Promise<{ pid: number; port: number } | null> => {
  const pidFile = path.join(cluster, 'postmaster.pid');
  const deadline = Date.now() + PATIENCE_MS;
  let hanging = 0;
  while (Date.now() < deadline) {
    const left = readPidFile(pidFile);
    const owner = left && inspectProcess(left.pid);
    if (!left || !owner) return null;
    if (!path.basename(owner.name).startsWith('postgres')) {
      // The pid went to somebody else after a crash, and Postgres would refuse to start. Its own pid check skips our pid (the
      // parent's) and goes on to the shared memory check, which removing the file would lose.
      writeFileSync(pidFile, [String(process.pid), ...left.lines.slice(1)].join('\n'));
      return null;
    }
    const state = left.port > 0 ? await probePostgres({ port: left.port, password }) : 'starting';
    if (state === 'serving') return { pid: left.pid, port: left.port };
    if (state === 'foreign')
      throw new Error(`a Postgres runs on ${cluster} that does not take the password kept beside it`);
    hanging = state === 'hanging' ? hanging + 1 : 0;
    if (hanging >= HANGING_PROBES) process.kill(left.pid, 'SIGKILL');
    await wait(50);
  }
  throw new Error(`the Postgres left running on ${cluster} neither serves nor ends`);
};
