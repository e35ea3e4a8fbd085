import { spawnSync } from 'node:child_process';

/** What the tests of the verifier run, with the way to ask for its version. */
const PROGRAMS = { sh: ['-c', ':'], python3: ['--version'], openssl: ['version'] };

/** Fails, with what to install, where a program that a dossier is verified with is missing: never skips. */
export const requirePrograms = (): void => {
  const missing = Object.entries(PROGRAMS).filter(([program, args]) => spawnSync(program, args).status !== 0);
  if (missing.length === 0) return;
  const names = missing.map(([program]) => program).join(' and ');
  throw new Error(
    `${names} missing: a dossier is verified with them. Install them, e.g. "apt install python3 openssl"`,
  );
};
