import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from './start-child.js';

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
