import { BackupError, type BackupFigures, restoreBackup, writeBackup } from '@vat/db';
import { type Arguments, type Commands, UsageError } from '../command.js';
import { MIGRATIONS } from './operations.js';

/** Runs work on the directory that is named. Throws {@link UsageError} with the message of a {@link BackupError}. */
const inDirectory =
  (work: (directory: string) => Promise<BackupFigures>) =>
  async ({ positionals: [directory] }: Arguments): Promise<BackupFigures> => {
    if (!directory) throw new UsageError('Name the directory of the backup.');
    try {
      return await work(directory);
    } catch (error) {
      throw error instanceof BackupError ? new UsageError(error.message) : error;
    }
  };

/** backup, restore. */
export const backupCommands = (databaseUrl: string, now: () => Date): Commands => ({
  'backup DIR': inDirectory((directory) => writeBackup(databaseUrl, directory, now)),
  'restore DIR': inDirectory((directory) => restoreBackup(databaseUrl, directory, MIGRATIONS)),
});
