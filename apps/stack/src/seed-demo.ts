import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Command } from './child.js';
import { replaceFile } from './data-dir.js';

type RunAdmin = { command: Command; env: NodeJS.ProcessEnv; signal: AbortSignal; input?: string | undefined };

/**
 * Runs one operator's command to its end. `input` is written to its standard input, where no other user can read it. `stdout` and `stderr` are
 * what it wrote, trimmed. Rejects when `signal` is aborted.
 */
export const runAdmin = async ({ command, env, signal, input }: RunAdmin) => {
  const child = spawn(command.file, command.args, { env, stdio: ['pipe', 'pipe', 'pipe'], signal });
  // A command that ends without reading is no failure of ours; its answer says what happened.
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

/** What is printed when everything is up: addresses, the demo sign-in, its keys, and a call to try. */
export const describeStack = (baseUrl: string, demo: Demo | null): string => {
  const account = demo
    ? [
        `  Sign in     ${demo.email} / ${demo.password}`,
        `  Live key    ${demo.live_key}   (asks VIES)`,
        `  Test key    ${demo.test_key}   (answered by the sandbox)`,
        '',
        '  Try it:',
        `  curl -sS ${baseUrl}/v1/checks -H 'Authorization: Bearer ${demo.test_key}' -H 'Content-Type: application/json' -d '{"vat_number":"DE100"}'`,
      ]
    : ['  No demo account here. Make one: npm run --silent admin -- account create --name N --email E --password -'];
  return [
    '',
    'The VAT Validation Service is ready.',
    '',
    `  Dashboard   ${baseUrl}/app`,
    `  API         ${baseUrl}/v1`,
    `  Docs        ${baseUrl}/docs`,
    ...account,
    '',
    '  Ctrl-C ends everything.',
    '',
  ].join('\n');
};
