import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const PROGRAM = 'verify.py';
const FILES = ['README.txt', 'verify.sh', PROGRAM];

// The files are outside src, because the container image contains only built code and assets.
const read = (path: string) => readFile(new URL(`../../assets/${path}`, import.meta.url));

/** The files in `assets/` that every dossier contains: the explanation and the two programs. */
export const readVerifier = (): Promise<{ path: string; bytes: Uint8Array }[]> =>
  Promise.all(FILES.map(async (path) => ({ path, bytes: await read(path) })));

/** The program that verifies dossiers. `sha256`: of its bytes, in lower-case hex. */
export type Verifier = { fileName: typeof PROGRAM; bytes: Uint8Array; sha256: string };

/** Reads the program that dossiers contain, to publish it separately. */
export const readVerifierProgram = async (): Promise<Verifier> => {
  const bytes = await read(PROGRAM);
  return { fileName: PROGRAM, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
};
