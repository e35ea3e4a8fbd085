import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from './replace-file.js';

/** The given key, or the one kept in `dataDir/secret_key`: 32 random bytes in base64, made at the first start. */
export const keepSecretKey = (dataDir: string, given: string | undefined): string => {
  if (given !== undefined) return given;
  const file = path.join(dataDir, 'secret_key');
  if (!existsSync(file)) replaceFile(file, `${randomBytes(32).toString('base64')}\n`);
  return readFileSync(file, 'utf8').trim();
};
