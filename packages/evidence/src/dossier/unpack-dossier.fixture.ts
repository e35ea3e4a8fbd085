import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unpacks a zip with Python, so that our own zip is read by somebody else's code; resolves to the folder. */
export const unpackDossier = async (zip: Readable): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-dossier-'));
  const file = `${folder}.zip`;
  await pipeline(zip, createWriteStream(file));
  await run('python3', ['-m', 'zipfile', '-e', file, folder]);
  await rm(file);
  return folder;
};

/** Runs `verify.py` (or `verify.sh`) of an unpacked dossier; never throws for what it says. */
export const runVerifier = async (
  folder: string,
  args: string[] = [],
  program: 'verify.py' | 'verify.sh' = 'verify.py',
) => {
  const interpreter = program === 'verify.py' ? 'python3' : 'sh';
  try {
    const { stdout, stderr } = await run(interpreter, [path.join(folder, program), ...args], { cwd: tmpdir() });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
};
