import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const PROGRAM = 'verify.py';
const FILES = ['README.txt', 'verify.sh', PROGRAM];

// Not below src: an image keeps only what was built.
const read = (path: string) => readFile(new URL(`../../assets/${path}`, import.meta.url));

/** What a dossier verifies itself with: the explanation and the two programs, as they lie in `assets/`. */
export const readVerifier = (): Promise<{ path: string; bytes: Uint8Array }[]> =>
  Promise.all(FILES.map(async (path) => ({ path, bytes: await read(path) })));

/** The program that verifies dossiers. `sha256`: of its bytes, in lower-case hex. */
export type Verifier = { fileName: typeof PROGRAM; bytes: Uint8Array; sha256: string };

/** Reads the program as dossiers contain it, to be published apart from them. */
export const readVerifierProgram = async (): Promise<Verifier> => {
  const bytes = await read(PROGRAM);
  return { fileName: PROGRAM, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
};
