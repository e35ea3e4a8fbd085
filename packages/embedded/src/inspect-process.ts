import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
