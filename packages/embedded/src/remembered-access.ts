import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** How to reach a server of ours: kept beside its data, so that a restart answers at the same address. */
export type Access = { port: number; password: string };

const read = (file: string): Access | null => {
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Access>;
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
};

/** Writes `access` to `file` (mode 0600) so that a crash leaves the old or the new content, never half of one. */
export const rememberAccess = (file: string, access: Access): void => {
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(access)}\n`, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
};

/** The access kept in `file`; with none yet, `port` 0 and a new password. */
export const recallAccess = (file: string): Access =>
  read(file) ?? { port: 0, password: randomBytes(24).toString('hex') };
