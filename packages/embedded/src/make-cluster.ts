import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PostgresHome } from './choose-postgres-home.js';

type MakeCluster = { home: PostgresHome; password: string; durable: boolean };

/**
 * Runs initdb for `home.cluster`: UTF-8, C collation (the same on every system), SCRAM. It is made beside its place and moved
 * there when complete, so that a start killed in the middle leaves nothing that looks like a cluster.
 */
export const makeCluster = async ({ home, password, durable }: MakeCluster): Promise<void> => {
  const making = `${home.cluster}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700, recursive: true });
  // Beside the cluster and not in the temporary folder, which the uid of Postgres may not be able to enter.
  const passwordFile = `${home.cluster}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const { uid, gid } = home.ids;
  if (uid !== undefined && gid !== undefined) for (const at of [making, passwordFile]) chownSync(at, uid, gid);
  try {
    const initdb = spawn(
      path.join(home.native, 'bin/initdb'),
      [
        ...['-D', making, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'],
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // A run of all tests shakes hands with it thousands of times, and both sides would hash 4 096 times each time.
        ...(durable ? [] : ['--no-sync', '-c', 'scram_iterations=1']),
      ],
      { ...home.ids, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let complaint = '';
    initdb.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    const [code] = (await once(initdb, 'close')) as [number | null];
    if (code !== 0) throw new Error(`Postgres could not make its data directory: ${complaint.trim()}`);
    renameSync(making, home.cluster);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(making, { recursive: true, force: true });
  }
};
