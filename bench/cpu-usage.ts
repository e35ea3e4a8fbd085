import { readdirSync, readFileSync } from 'node:fs';
import { until } from '@vat/testkit';

/** Fields of /proc/<pid>/stat after the name, counted from the state: parent, own times in ticks, those of children that ended. */
const PARENT = 1;
const OWN_TIMES = [11, 12] as const; // user, system
const ENDED_TIMES = [13, 14] as const;
/** Fields of the first line of /proc/stat that are not CPU time (idle, iowait), or are also counted in `user` and `nice`. */
const NOT_BUSY = [3, 4, 8, 9];
/** The kernel reports these times in hundredths of a second on every platform that Node supports. */
const TICKS_A_SECOND = 100;

/** The content of a file below /proc; empty if the process has ended, or this is not Linux. */
const readProc = (file: string): string => {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return '';
  }
};

/** `ended`: the CPU seconds of children that have ended. */
const readStat = (pid: number): { parent: number; seconds: number; ended: number } | null => {
  const text = readProc(`${pid}/stat`);
  if (text === '') return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const secondsIn = (times: readonly number[]) =>
    times.reduce((sum, field) => sum + Number(fields[field]), 0) / TICKS_A_SECOND;
  return { parent: Number(fields[PARENT]), seconds: secondsIn(OWN_TIMES), ended: secondsIn(ENDED_TIMES) };
};

/** CPU seconds that a process has used so far, with `withChildren` including its children. Null where there is no /proc. */
export const secondsOf = (pid: number, withChildren = false): number | null => {
  const own = readStat(pid);
  if (!own || !withChildren) return own?.seconds ?? null;
  const children = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    return stat?.parent === pid ? [stat.seconds] : [];
  });
  return children.reduce((sum, seconds) => sum + seconds, own.seconds + own.ended);
};

/** CPU seconds that all processes of this machine have used since it was started. */
const readBusySeconds = (): number | null => {
  const [line = ''] = readProc('stat').split('\n');
  if (line === '') return null;
  const ticks = line.split(/\s+/).slice(1).map(Number);
  return ticks.filter((_value, field) => !NOT_BUSY.includes(field)).reduce((sum, n) => sum + n, 0) / TICKS_A_SECOND;
};

/** CPU times so far of processes by name, and of the whole machine; null where there is no /proc. */
type CpuReading = { at: number; each: Record<string, number | null>; busy: number | null };

/** Reads the CPU times of processes by their ids. `postgres` includes its children, one per connection. */
export const readCpu = (pids: Record<string, number>): CpuReading => ({
  at: performance.now(),
  each: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, secondsOf(pid, name === 'postgres')])),
  busy: readBusySeconds(),
});

/** The CPU seconds that each process, and the rest of the machine, used in the `seconds` between two readings. */
export const cpuBetween = (first: CpuReading, last: CpuReading) => {
  // A child of Postgres that ends between two readings of one moment may be counted in neither.
  const difference = (from: number | null | undefined, to: number | null | undefined) =>
    typeof from === 'number' && typeof to === 'number' ? Math.max(0, to - from) : null;
  const used = Object.fromEntries(
    Object.keys(first.each).map((name) => [name, difference(first.each[name], last.each[name])]),
  );
  const own = Object.values(used).reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0);
  const busy = difference(first.busy, last.busy);
  return { seconds: (last.at - first.at) / 1_000, used, own, others: busy === null ? null : Math.max(0, busy - own) };
};

/** The part of a backlog that is measured: the first pieces run cold code, and at the end some queues are already empty. */
export const MIDDLE = { from: 0.2, to: 0.8 } as const;

/**
 * The CPU seconds of the {@link MIDDLE} of a backlog of `count` pieces, of which `readDone` are done so far. `done`: the pieces
 * of that part; `beside`: the difference of what `readBeside` returns at its ends.
 */
export const cpuOfMiddle = async (
  pids: Record<string, number>,
  { what, count, withinMs }: { what: string; count: number; withinMs: number },
  readDone: () => Promise<number>,
  readBeside: () => Promise<number> = async () => 0,
) => {
  const snapshot = async (share: number) => {
    const enough = async () => {
      const done = await readDone();
      return done >= share * count && done;
    };
    const done = await until(`${share * 100} % of ${what}`, enough, withinMs);
    return { done, cpu: readCpu(pids), beside: await readBeside() };
  };
  const first = await snapshot(MIDDLE.from);
  const last = await snapshot(MIDDLE.to);
  return { ...cpuBetween(first.cpu, last.cpu), done: last.done - first.done, beside: last.beside - first.beside };
};
