import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder and those above it, unless they exist. `mkdirSync` with `recursive` never ends where none can be created, such
 * as in /proc.
 */
export const createFolder = (folder: string, mode?: number): void => {
  if (existsSync(folder)) return;
  if (path.dirname(folder) !== folder) createFolder(path.dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};
