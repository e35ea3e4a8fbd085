import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StartupError } from './startup-error.js';

/** Makes the data directory and proves that it can be written. Returns its real path. Throws StartupError. */
export const openDataDir = (folder: string): string => {
  try {
    mkdirSync(folder, { recursive: true });
    const dataDir = realpathSync(folder);
    const probe = path.join(dataDir, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
    return dataDir;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `DATA_DIR ${path.resolve(folder)} cannot be written (${code ?? message}): choose another one`,
    );
  }
};
