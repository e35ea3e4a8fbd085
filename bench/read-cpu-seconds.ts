import { readdirSync, readFileSync } from 'node:fs';

/** Fields of /proc/<pid>/stat after the name, counted from the state: parent, and user and system time in ticks. */
const PARENT = 1;
const USER_TIME = 11;
const SYSTEM_TIME = 12;
/** The kernel reports these times in hundredths of a second on every platform that Node supports. */
const TICKS_A_SECOND = 100;

const readStat = (pid: number): { parent: number; seconds: number } | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
    return { parent: Number(fields[PARENT]), seconds: ticks / TICKS_A_SECOND };
  } catch {
    return null; // the process has ended, or this is not Linux
  }
};

/**
 * CPU seconds that a process has used so far; with `withChildren` including its running children (Postgres has one per
 * connection); `null` without /proc.
 */
export const readCpuSeconds = (pid: number, withChildren: boolean): number | null => {
  const own = readStat(pid);
  if (!own || !withChildren) return own?.seconds ?? null;
  const children = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    return stat?.parent === pid ? [stat.seconds] : [];
  });
  return children.reduce((sum, seconds) => sum + seconds, own.seconds);
};
