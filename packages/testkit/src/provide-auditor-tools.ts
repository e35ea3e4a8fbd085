import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { provideTool } from './provide-tool.js';

const execute = promisify(execFile);

/** Runs a program that an auditor has; resolves to its exit code and everything it printed, whatever the code. */
export type RunTool = (
  program: 'sh' | 'python3' | 'openssl',
  args: readonly string[],
  cwd?: string,
) => Promise<{ code: number; output: string }>;

/** The programs that a dossier is verified with: those of the machine, or the distribution's, fetched without root. */
export const provideAuditorTools = async (): Promise<RunTool> => {
  const [python3, openssl] = [await provideTool('python3'), await provideTool('openssl')];
  const joined = (name: string) =>
    [python3.env[name], openssl.env[name]].filter((value) => value !== undefined && value !== '').join(path.delimiter);
  const env = {
    ...python3.env,
    ...openssl.env,
    LD_LIBRARY_PATH: joined('LD_LIBRARY_PATH'),
    // By their names: the verifier finds them like everybody else.
    PATH: [path.dirname(python3.file), path.dirname(openssl.file), joined('PATH')].join(path.delimiter),
  };
  return async (program, args, cwd) => {
    try {
      const { stdout, stderr } = await execute(program, [...args], { env, ...(cwd !== undefined && { cwd }) });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number | string; stdout?: string; stderr?: string };
      // A text is no exit code: the program could not be run at all.
      if (typeof code !== 'number') throw error;
      return { code, output: `${stdout}${stderr}` };
    }
  };
};
