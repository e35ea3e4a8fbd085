import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

type FetchDebianPackages = {
  /** As Debian (or Ubuntu) names them; what they depend on and the machine lacks comes along. */
  names: readonly string[];
  /** The folder they are unpacked into; one that is there and not usable is replaced. */
  into: string;
  /** Whether what lies unpacked in a folder runs here. */
  isUsable: (folder: string) => boolean;
  /** PATH and proxy settings. */
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
};

/** Of one step: the lists alone are some ten megabytes, and must not take the time of the packages. */
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
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    if (limit.aborted) throw new Error(`${path.basename(file)} took longer than ${STEP_TIMEOUT_MS / 1_000} s`);
    throw error;
  })) as [number | null];
  if (code !== 0) throw new Error(complaint.trim().split('\n')[0] || `${path.basename(file)} ended with ${code}`);
};

// apt's own state is kept in the folder, so neither root nor filled package lists are needed, and nothing of the machine changes.
const aptOptions = (state: string, status: string): string[] =>
  [
    ...[`Dir::State=${state}`, `Dir::State::Lists=${state}/lists`, `Dir::Cache=${state}/cache`, `Dir::Log=${state}`],
    ...[`Dir::State::status=${status}`, 'APT::Sandbox::User=', 'Debug::NoLocking=1', 'Acquire::Languages=none'],
    // Without a network this has to fail soon, and to fail at all: by default an update that reached nothing succeeds.
    ...['Acquire::Retries=1', 'Acquire::http::Timeout=10', 'Acquire::https::Timeout=10', 'APT::Update::Error-Mode=any'],
  ].flatMap((option) => ['-o', option]);

const unpack = async (
  names: readonly string[],
  { state, env, signal }: { state: string; env: NodeJS.ProcessEnv; signal: AbortSignal | undefined },
): Promise<void> => {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'root']) {
    mkdirSync(path.join(state, folder), { recursive: true });
  }
  const none = path.join(state, 'status');
  writeFileSync(none, '');
  const options = aptOptions(state, existsSync(STATUS) ? STATUS : none);
  const wanted = ['install', '-qq', '-y', '--download-only', '--no-install-recommends', '--reinstall', ...names];
  await run('apt-get', [...options, 'update', '-qq'], env, signal);
  await run('apt-get', [...options, ...wanted], env, signal);
  const archives = path.join(state, 'cache/archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', path.join(archives, name), path.join(state, 'root')], env, signal);
  }
};

/**
 * Downloads packages of Debian or Ubuntu with the libraries this machine lacks and unpacks them into `into`, without root
 * and without changing anything else. Throws when there is no apt, no network, or the result is not usable.
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
    if (!isUsable(path.join(state, 'root'))) throw new Error(`the downloaded ${names[0]} does not run here`);
    // Whoever fetched the same at the same time and was first wins.
    if (!isUsable(into)) {
      rmSync(into, { recursive: true, force: true });
      renameSync(path.join(state, 'root'), into);
    }
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
};
