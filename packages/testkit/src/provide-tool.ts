import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from './run-program.js';

/** Programs that auditors and operators use and that tests therefore run, with the Debian packages that contain them. */
const PACKAGES = {
  jq: ['jq'],
  openssl: ['openssl'],
  pgbouncer: ['pgbouncer'],
  python3: ['python3-minimal', 'libpython3-stdlib'],
} as const;
const VERSION_ARGUMENT = {
  jq: '--version',
  openssl: 'version',
  pgbouncer: '--version',
  python3: '--version',
} as const;
/** Where the package has the program, if not in `usr/bin`. */
const FOLDERS: Partial<Record<ToolName, string>> = { pgbouncer: 'usr/sbin' };
type ToolName = keyof typeof PACKAGES;

/** A program that runs on this machine, and the environment that it needs. */
export type Tool = { file: string; env: Record<string, string> };

const runs = (name: ToolName, { file, env }: Tool): boolean =>
  spawnSync(file, [VERSION_ARGUMENT[name]], { env, timeout: 10_000 }).status === 0;

/** The libraries of packages unpacked to `folder`: below a folder named after the platform, such as `x86_64-linux-gnu`. */
export const unpackedLibraries = (folder: string): string[] =>
  ['usr/lib', 'lib'].flatMap((lib) => {
    const parent = path.join(folder, lib);
    if (!existsSync(parent)) return [];
    return readdirSync(parent)
      .filter((entry) => entry.includes('-linux-'))
      .map((triplet) => path.join(parent, triplet));
  });

const unpackedTool = (name: ToolName, folder: string): Tool => ({
  file: path.join(folder, FOLDERS[name] ?? 'usr/bin', name),
  env: {
    PATH: '/usr/bin:/bin',
    LD_LIBRARY_PATH: unpackedLibraries(folder).join(':'),
    // Each program would otherwise look for its files in /.
    ...(name === 'python3' && { PYTHONHOME: path.join(folder, 'usr') }),
    ...(name === 'openssl' && { OPENSSL_CONF: path.join(folder, 'etc/ssl/openssl.cnf') }),
  },
});

/**
 * The interpreter itself, if PATH has a version manager's script that searches for it at every start. That script takes longer
 * than most programs that tests run.
 */
const withoutShim = ({ file, env }: Tool): Tool => {
  const { stdout } = spawnSync(file, ['-c', 'import sys; print(sys.executable)'], { env, encoding: 'utf8' });
  const own = stdout.trim();
  return { file: existsSync(own) ? own : file, env };
};

/**
 * A program for a test: the one on PATH, or the distribution's package, unpacked below the project's `.data` without root, like
 * redis-server. Otherwise throws an Error that says what to install, so that the test fails instead of being skipped.
 */
export const provideTool = async (name: ToolName, searchPath = process.env.PATH ?? ''): Promise<Tool> => {
  const installed: Tool[] = searchPath
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => ({ file: path.join(folder, name), env: { PATH: searchPath } }));
  const found = installed.find((tool) => existsSync(tool.file) && runs(name, tool));
  if (found) return name === 'python3' ? withoutShim(found) : found;
  const into = path.join(PROJECT_ROOT, '.data', 'tools', name);
  const tool = () => unpackedTool(name, into);
  if (runs(name, tool())) return tool();
  mkdirSync(path.dirname(into), { recursive: true });
  try {
    const { fetchDebianPackages } = await import('@vat/embedded');
    const isUsable = (folder: string) => runs(name, unpackedTool(name, folder));
    await fetchDebianPackages({ names: PACKAGES[name], into, isUsable, env: process.env });
  } catch (error) {
    throw new Error(`this test needs ${name}, which is not on PATH and could not be fetched; install it`, {
      cause: error,
    });
  }
  return tool();
};

const execute = promisify(execFile);

/** Runs a program of an auditor; resolves to its exit code and its output, also if the code is not 0. */
export type RunTool = (
  program: 'sh' | 'python3' | 'openssl',
  args: readonly string[],
  cwd?: string,
) => Promise<{ code: number; output: string }>;

/** The programs that verify a dossier: those of the machine, or those of the distribution, fetched without root. */
export const provideAuditorTools = async (): Promise<RunTool> => {
  const [python3, openssl] = [await provideTool('python3'), await provideTool('openssl')];
  const joined = (name: string) =>
    [python3.env[name], openssl.env[name]].filter((value) => value !== undefined && value !== '').join(path.delimiter);
  const env = {
    ...python3.env,
    ...openssl.env,
    LD_LIBRARY_PATH: joined('LD_LIBRARY_PATH'),
    // The verifier finds the programs by their names.
    PATH: [path.dirname(python3.file), path.dirname(openssl.file), joined('PATH')].join(path.delimiter),
  };
  return async (program, args, cwd) => {
    try {
      const { stdout, stderr } = await execute(program, [...args], { env, ...(cwd !== undefined && { cwd }) });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number | string; stdout?: string; stderr?: string };
      // A string is not an exit code: the program could not be started.
      if (typeof code !== 'number') throw error;
      return { code, output: `${stdout}${stderr}` };
    }
  };
};
