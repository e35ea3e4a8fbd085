import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isFullSize } from './fault-size.js';
import { PROJECT_ROOT } from './run-program.js';

/** Where Linux keeps files in memory. A container often has only 64 MB there. */
const MEMORY = '/dev/shm';
/** Several times what the databases and the log of a run use; a full-size run may use more. */
const ENOUGH_BYTES = 8 * 1024 ** 3;
const PREFIX = 'vat-servers-';

const hasMemory = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Removes what killed runs left in memory. A folder is named after the process that made it. */
const removeLeft = (): void => {
  for (const name of readdirSync(MEMORY).filter((name) => name.startsWith(PREFIX))) {
    if (!isAlive(Number.parseInt(name.slice(PREFIX.length), 10)))
      rmSync(path.join(MEMORY, name), { recursive: true, force: true });
  }
};

/**
 * Makes the folder for the data of a test run's Postgres and Redis; `binDir` contains the fetched redis-server. Data that need
 * not be durable are in memory if there is enough: a database is hundreds of files, and making and deleting them on a
 * disk took half of the processor time of Postgres in tests of the API.
 */
export const makeServersFolder = (durable: boolean): { folder: string; binDir: string } => {
  const binDir = path.join(PROJECT_ROOT, '.data', 'redis-bin');
  mkdirSync(binDir, { recursive: true });
  const inMemory = !durable && !isFullSize() && hasMemory();
  if (inMemory) removeLeft();
  const folder = mkdtempSync(path.join(inMemory ? MEMORY : tmpdir(), `${PREFIX}${process.pid}-`));
  // The user of Postgres, if root starts it, can enter but not list the folder; otherwise its cluster would be on the disk.
  if (inMemory) chmodSync(folder, 0o711);
  return { folder, binDir };
};
