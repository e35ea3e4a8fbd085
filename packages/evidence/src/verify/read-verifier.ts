import { readFile } from 'node:fs/promises';

const FILES = ['README.txt', 'verify.sh', 'verify.py'];

/** What a dossier verifies itself with: the explanation and the two programs, as they lie in `assets/`. */
export const readVerifier = (): Promise<{ path: string; bytes: Uint8Array }[]> =>
  Promise.all(
    FILES.map(async (path) => ({
      path,
      // Not below src: an image keeps only what was built.
      bytes: await readFile(new URL(`../../assets/${path}`, import.meta.url)),
    })),
  );
