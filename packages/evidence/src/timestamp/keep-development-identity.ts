import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type DevelopmentIdentity, makeDevelopmentIdentity } from './make-development-identity.js';

const FILE = 'development-authority.json';

const read = async (file: string): Promise<DevelopmentIdentity | null> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as DevelopmentIdentity);
};

/**
 * The development identity kept in `folder`, made at the first call. Processes that start together get the same one:
 * whoever is first wins. Readable by its owner alone.
 */
export const keepDevelopmentIdentity = async (folder: string, now: Date): Promise<DevelopmentIdentity> => {
  const file = path.join(folder, FILE);
  const kept = await read(file);
  if (kept) return kept;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const made = await makeDevelopmentIdentity(now);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  try {
    // Unlike a rename, a link does not replace what another process put there meanwhile; and it is never half a file.
    await link(draft, file);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await read(file)) ?? made;
  } finally {
    await rm(draft, { force: true });
  }
};
