import { readFileSync } from 'node:fs';

/** Fields of the first line of /proc/stat that are not CPU time: idle and iowait. */
const IDLE = [3, 4];
/** Fields that are also counted in `user` and `nice`. */
const GUEST = [8, 9];
const TICKS_A_SECOND = 100;

/** CPU seconds that all processes of this machine have used since it was started; `null` without /proc. */
export const readBusySeconds = (): number | null => {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const ticks = line.split(/\s+/).slice(1).map(Number);
    const busy = ticks.filter((_value, field) => !IDLE.includes(field) && !GUEST.includes(field));
    return busy.reduce((sum, value) => sum + value, 0) / TICKS_A_SECOND;
  } catch {
    return null; // not Linux
  }
};
