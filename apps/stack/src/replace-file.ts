import { renameSync, writeFileSync } from 'node:fs';

/** Writes `content` to `file` (mode 0600) so that a reader finds the old or the new one, never half of one. */
export const replaceFile = (file: string, content: string): void => {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, content, { mode: 0o600 });
  renameSync(fresh, file);
};
