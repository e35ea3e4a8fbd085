import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from './replace-file.js';
import type { runAdmin } from './run-admin.js';

/** The demo account. The password and the keys exist in clear text here alone (mode 0600). */
export type Demo = { email: string; password: string; account_id: string; live_key: string; test_key: string };

type SeedDemo = {
  dataDir: string;
  /** Which database this is; a demo kept for another one is not this one's. */
  database: string;
  /** True when the database was made just now, so that what was kept is of no use. */
  created: boolean;
  /** `input` is what the command reads from standard input. */
  admin: (args: string[], input?: string) => ReturnType<typeof runAdmin>;
  say: (line: string) => void;
};

const read = (file: string, database: string): Demo | null => {
  try {
    const { database: of, ...demo } = JSON.parse(readFileSync(file, 'utf8')) as Demo & { database: string };
    return of === database ? demo : null;
  } catch {
    return null;
  }
};

const complaintIn = (output: string): string => {
  try {
    const { error } = JSON.parse(output) as { error?: { message?: string } | string };
    return (typeof error === 'string' ? error : error?.message) ?? output;
  } catch {
    return output;
  }
};

/**
 * Makes the demo account at the first start and keeps it in `dataDir/demo.json`; later starts read it from there. Null, with a
 * line said, when it cannot be made (a database of the user's may have one already): the stack runs without.
 */
export const seedDemo = async ({ dataDir, database, created, admin, say }: SeedDemo): Promise<Demo | null> => {
  const file = path.join(dataDir, 'demo.json');
  if (created) rmSync(file, { force: true });
  const kept = read(file, database);
  if (kept) return kept;
  const email = 'demo@example.com';
  const password = `demo-${randomBytes(9).toString('base64url')}`;
  const flags = ['--name', 'Demo', '--email', email, '--password', '-', '--plan', 'business'];
  const made = await admin(['account', 'create', ...flags], `${password}\n`);
  if (!made.ok) {
    say(`no demo account was made: ${complaintIn(made.stdout || made.stderr)}`);
    return null;
  }
  const demo: Demo = { email, password, ...(JSON.parse(made.stdout) as Omit<Demo, 'email' | 'password'>) };
  replaceFile(file, `${JSON.stringify({ database, ...demo }, null, 2)}\n`);
  return demo;
};
