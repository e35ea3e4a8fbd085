import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from '@vat/embedded';
import type { Command } from './child.js';

type RunAdmin = { command: Command; env: NodeJS.ProcessEnv; signal: AbortSignal; input?: string | undefined };

/**
 * Runs one admin command to its end. `input` is written to its standard input, where no other user can read it. `stdout`
 * and `stderr` are its trimmed output. Rejects when `signal` is aborted.
 */
export const runAdmin = async ({ command, env, signal, input }: RunAdmin) => {
  const child = spawn(command.file, command.args, { env, stdio: ['pipe', 'pipe', 'pipe'], signal });
  // A command may end without reading its input; its output reports what happened.
  child.stdin.on('error', () => undefined).end(input ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { ok: code === 0, stdout: stdout.trim(), stderr: stderr.trim() };
};

/** The demo account. The password and the keys exist in clear text here alone (mode 0600). */
type Demo = { email: string; password: string; account_id: string; live_key: string; test_key: string };

type SeedDemo = {
  dataDir: string;
  /** Identifies the database; a stored demo account of another database is ignored. */
  database: string;
  /** True when the database was just created, so that a stored demo account does not exist any more. */
  created: boolean;
  /** Runs an admin command; `input` is its standard input. */
  admin: (args: string[], input?: string) => ReturnType<typeof runAdmin>;
  log: (line: string) => void;
};

const readText = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/** The stored demo account of `database`. It has no keys while it is created, and when a start ended meanwhile. */
const readDemo = (text: string | null, database: string): Partial<Demo> | null => {
  try {
    const { database: of, ...demo } = JSON.parse(text ?? '') as Partial<Demo> & { database: string };
    return of === database ? demo : null;
  } catch {
    return null;
  }
};

const isComplete = (demo: Partial<Demo> | null): demo is Demo => demo?.test_key !== undefined;

const errorMessageOf = (output: string): string => {
  try {
    const { error } = JSON.parse(output) as { error?: { message?: string } | string };
    return (typeof error === 'string' ? error : error?.message) ?? output;
  } catch {
    return output;
  }
};

/**
 * Creates the demo account at the first start and stores it in `dataDir/demo.json`; later starts read it from there.
 * Returns null and logs a line when it cannot be created (an existing database may already have one); the stack runs
 * without it.
 */
export const seedDemo = async ({ dataDir, database, created: isNew, admin, log }: SeedDemo): Promise<Demo | null> => {
  const file = path.join(dataDir, 'demo.json');
  if (isNew) rmSync(file, { force: true });
  const before = readText(file);
  const stored = readDemo(before, database);
  if (isComplete(stored)) return stored;
  const store = (demo: Partial<Demo>) => replaceFile(file, `${JSON.stringify({ database, ...demo }, null, 2)}\n`);
  const password = `demo-${randomBytes(9).toString('base64url')}`;
  const create = async (email: string) => {
    const flags = ['--name', 'Demo', '--email', email, '--password', '-', '--plan', 'business'];
    return { email, ...(await admin(['account', 'create', ...flags], `${password}\n`)) };
  };
  // The file may be the only copy of the sign-in and keys of another database.
  if (before === null) store({});
  let result = await create('demo@example.com');
  // A start that ended after it had created the account: its password and keys are lost, so there is a second one.
  if (!result.ok && stored) result = await create(`demo-${randomBytes(4).toString('hex')}@example.com`);
  if (!result.ok) {
    if (before === null) rmSync(file, { force: true });
    log(`no demo account was created: ${errorMessageOf(result.stdout || result.stderr)}`);
    return null;
  }
  const created = JSON.parse(result.stdout) as Omit<Demo, 'email' | 'password'>;
  const demo: Demo = { email: result.email, password, ...created };
  store(demo);
  return demo;
};

/** The text to print when the stack is ready: addresses, the demo account with its keys, and an example call. */
export const describeStack = (baseUrl: string, demo: Demo | null): string => {
  const account = demo
    ? [
        `  Sign in     ${demo.email} / ${demo.password}`,
        `  Live key    ${demo.live_key}   (calls VIES)`,
        `  Test key    ${demo.test_key}   (answered by the sandbox)`,
        '',
        '  Try it:',
        `  curl -sS ${baseUrl}/v1/checks -H 'Authorization: Bearer ${demo.test_key}' -H 'Content-Type: application/json' -d '{"vat_number":"DE100"}'`,
      ]
    : ['  No demo account. Create one: npm run --silent admin -- account create --name N --email E --password -'];
  return [
    '',
    'The VAT Validation Service is ready.',
    '',
    `  Dashboard   ${baseUrl}/app`,
    `  API         ${baseUrl}/v1`,
    `  Docs        ${baseUrl}/docs`,
    ...account,
    '',
    '  Press Ctrl-C to stop.',
    '',
  ].join('\n');
};
