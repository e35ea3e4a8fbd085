import { spawn } from 'node:child_process';
import path from 'node:path';
import { PROGRAM_FLAGS, programFile } from './program-file.js';

/** The environment a started program sees: what it needs to run, and its settings; nothing of the developer's. */
export const programEnvironment = (settings: Record<string, string>): Record<string, string> => ({
  PATH: process.execPath.slice(0, process.execPath.lastIndexOf(path.sep)),
  NODE_ENV: 'test',
  ...settings,
});

/** What a program printed; `input` is its standard input. Throws with its output when it fails, unless `mayFail`. */
export const runProgram = (
  file: string,
  args: string[],
  settings: Record<string, string>,
  mayFail = false,
  input = '',
): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...PROGRAM_FLAGS, programFile(file), ...args], {
      env: programEnvironment(settings),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A program may end without reading it.
    child.stdin.on('error', () => undefined).end(input);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 || mayFail) resolve({ code, stdout, stderr });
      else reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`));
    });
  });
