import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

type FetchDebianPackages = {
  /** Package names of Debian or Ubuntu. Dependencies that the machine lacks are included. */
  names: readonly string[];
  /** The target folder; an existing one that is not usable is replaced. */
  into: string;
  /** Whether the packages unpacked in a folder run on this machine. */
  isUsable: (folder: string) => boolean;
  /** PATH and proxy settings. */
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
};

/** The time-out of each step. The package lists alone are about ten megabytes, so each step has its own. */
const STEP_TIMEOUT_MS = 90_000;
const STATUS = '/var/lib/dpkg/status';

const run = async (
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const limit = AbortSignal.timeout(STEP_TIMEOUT_MS);
  const child = spawn(file, args, {
    env: { ...env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.any([limit, ...(signal ? [signal] : [])]),
  });
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput += text;
  });
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    if (limit.aborted) throw new Error(`${path.basename(file)} took longer than ${STEP_TIMEOUT_MS / 1_000} s`);
    throw error;
  })) as [number | null];
  if (code !== 0) throw new Error(errorOutput.trim().split('\n')[0] || `${path.basename(file)} ended with ${code}`);
};

// apt stores its state in the folder, so it needs neither root nor existing package lists, and changes nothing on the machine.
const aptOptions = (state: string, status: string): string[] =>
  [
    ...[`Dir::State=${state}`, `Dir::State::Lists=${state}/lists`, `Dir::Cache=${state}/cache`, `Dir::Log=${state}`],
    ...[`Dir::State::status=${status}`, 'APT::Sandbox::User=', 'Debug::NoLocking=1', 'Acquire::Languages=none'],
    // Without a network the update must fail, and soon; by default it succeeds even when no server was reached.
    ...['Acquire::Retries=1', 'Acquire::http::Timeout=10', 'Acquire::https::Timeout=10', 'APT::Update::Error-Mode=any'],
  ].flatMap((option) => ['-o', option]);

const unpack = async (
  names: readonly string[],
  { state, env, signal }: { state: string; env: NodeJS.ProcessEnv; signal: AbortSignal | undefined },
): Promise<void> => {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'root']) {
    mkdirSync(path.join(state, folder), { recursive: true });
  }
  const emptyStatus = path.join(state, 'status');
  writeFileSync(emptyStatus, '');
  const options = aptOptions(state, existsSync(STATUS) ? STATUS : emptyStatus);
  const install = ['install', '-qq', '-y', '--download-only', '--no-install-recommends', '--reinstall', ...names];
  await run('apt-get', [...options, 'update', '-qq'], env, signal);
  await run('apt-get', [...options, ...install], env, signal);
  const archives = path.join(state, 'cache/archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', path.join(archives, name), path.join(state, 'root')], env, signal);
  }
};

/**
 * Downloads packages of Debian or Ubuntu with the libraries that this machine lacks and unpacks them into `into`, without
 * root and without other changes. Throws without apt, without a network, or when the result is not usable.
 */
export const fetchDebianPackages = async ({
  names,
  into,
  isUsable,
  env,
  signal,
}: FetchDebianPackages): Promise<void> => {
  const state = `${path.resolve(into)}.${randomUUID()}`;
  try {
    await unpack(names, { state, env, signal });
    if (!isUsable(path.join(state, 'root'))) throw new Error(`the downloaded ${names[0]} does not run on this machine`);
    // A concurrent fetch may have put usable packages there already.
    if (!isUsable(into)) {
      rmSync(into, { recursive: true, force: true });
      renameSync(path.join(state, 'root'), into);
    }
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
};

/** A Redis (or Valkey) server that runs on this machine: its file, and the folders of libraries that are not the system's. */
export type RedisBinary = { file: string; libraries: string[] };

const NAMES = ['redis-server', 'valkey-server'];
const list = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

export const redisEnvironment = ({ libraries }: RedisBinary): NodeJS.ProcessEnv => ({
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});

const runsHere = (binary: RedisBinary): boolean =>
  spawnSync(binary.file, ['--version'], { env: redisEnvironment(binary), timeout: 10_000 }).status === 0;

/** The server among the packages in the folder `unpacked`, with its libraries, or null. */
const findUnpackedRedis = (unpacked: string): RedisBinary | null => {
  const libraries = ['usr/lib', 'lib'].flatMap((lib) =>
    list(path.join(unpacked, lib))
      .filter((name) => name.includes('-linux-'))
      .map((triplet) => path.join(unpacked, lib, triplet)),
  );
  const binary = { file: path.join(unpacked, 'usr/bin/redis-server'), libraries };
  return runsHere(binary) ? binary : null;
};

/** The installed server: the first in the folders of `searchPath` (a PATH) that runs, or null. */
const findInstalledRedis = (searchPath: string): RedisBinary | null => {
  const folders = [...new Set(searchPath.split(path.delimiter).filter(Boolean))];
  const found = NAMES.flatMap((name) =>
    folders.filter((folder) => list(folder).includes(name)).map((folder) => path.join(folder, name)),
  );
  return found.map((file) => ({ file, libraries: [] })).find(runsHere) ?? null;
};

type FetchRedis = { into: string; env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined };

/**
 * Downloads redis-server of Debian or Ubuntu with the libraries that this machine lacks and unpacks it into `into`, without
 * root. Throws without apt, without a network, or when the result does not run. About 3 s and 8 MB.
 */
const fetchRedis = async ({ into, env, signal }: FetchRedis): Promise<RedisBinary> => {
  const isUsable = (folder: string) => findUnpackedRedis(folder) !== null;
  await fetchDebianPackages({ names: ['redis-server'], into, isUsable, env, signal });
  const fetched = findUnpackedRedis(into);
  if (!fetched) throw new Error(`redis-server was unpacked into ${into}, but does not run from there`);
  return fetched;
};

type ChooseRedis = {
  binDir: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
};

/**
 * Finds a Redis to run: an installed one, one unpacked earlier into `binDir`, or packages of the distribution fetched now.
 * Throws an Error that lists the alternatives when none of these works.
 */
export const chooseRedis = async ({ binDir, env, log, signal }: ChooseRedis): Promise<RedisBinary> => {
  const found = findInstalledRedis(env['PATH'] ?? '') ?? findUnpackedRedis(binDir);
  if (found) return found;
  log(`no redis-server on PATH: fetching the distribution's package into ${binDir} (nothing is installed)`);
  try {
    return await fetchRedis({ into: binDir, env, signal });
  } catch (error) {
    signal?.throwIfAborted();
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no apt here' : (error as Error).message;
    throw new Error(
      `neither redis-server nor valkey-server is on PATH, and it could not be fetched (${why}). Install one ` +
        '(Debian, Ubuntu: "apt install redis-server"; Fedora: "dnf install valkey"; Alpine: "apk add valkey"; macOS: ' +
        '"brew install redis"), set REDIS_URL to an existing Redis, or use "docker compose up"',
    );
  }
};
