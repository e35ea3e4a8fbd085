import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { adoptPostgres } from './adopt-postgres.js';
import { choosePostgresHome } from './choose-postgres-home.js';
import type { EmbeddedServer } from './embedded-server.js';
import { findFreePort, isPortFree } from './find-free-port.js';
import { launchPostgres } from './launch-postgres.js';
import { makeCluster } from './make-cluster.js';
import { findPostgresPackage } from './postgres-package.js';
import { probePostgres } from './probe-postgres.js';
import { type Access, recallAccess, rememberAccess } from './remembered-access.js';
import { stopProcess } from './stop-process.js';
import { waitForExit } from './wait-for-exit.js';

/** How Postgres is started. */
export type StartPostgres = {
  /** Holds the cluster (`postgres/`), its log and its access data; made when missing. */
  dataDir: string;
  /** A port that must be used; without one the last port is used again while it is free, else a new one. */
  port?: number | undefined;
  /** False (tests only) gives up durability for speed: a crash of the machine may lose or break the cluster. */
  durable?: boolean | undefined;
  /** Made when missing, and named by `url`. Default `vat`. */
  database?: string | undefined;
  /** Hears one line about anything out of the ordinary. */
  log?: ((line: string) => void) | undefined;
};

const LEFTOVER_MS = 10_000;
// After kill -9 the old server's backends hold its shared memory for about a second; a socket may linger likewise.
const LEFTOVER = /shared memory block|lock file "postmaster.pid"/;
const PORT_TAKEN = /Address already in use/;

const ensureDatabase = (access: Access, database: string): Promise<unknown> =>
  probePostgres(access, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  });

const choosePort = async (wanted: number | undefined, remembered: number): Promise<number> =>
  wanted ?? (remembered > 0 && (await isPortFree(remembered)) ? remembered : findFreePort());

/**
 * Starts Postgres 18 on 127.0.0.1 (UTC, SCRAM with a password made once), or takes over the one that a killed parent left on
 * the same `dataDir`. Throws an Error with a readable message: no binaries, a taken `port`, a directory it cannot use.
 */
export const startPostgres = async ({
  dataDir: folder,
  port,
  durable = true,
  database = 'vat',
  log = () => undefined,
}: StartPostgres): Promise<EmbeddedServer> => {
  const dataDir = path.resolve(folder);
  mkdirSync(dataDir, { recursive: true });
  const home = choosePostgresHome(dataDir, findPostgresPackage());
  const accessFile = path.join(dataDir, 'postgres.json');
  let access = recallAccess(accessFile);
  const created = !existsSync(path.join(home.cluster, 'PG_VERSION'));
  if (created) {
    // The password first: a cluster whose password was lost in a crash could not be used again.
    rememberAccess(accessFile, access);
    await makeCluster({ home, password: access.password, durable });
  }

  const asServer = async (pid: number, exited: Promise<string>, reused: boolean): Promise<EmbeddedServer> => {
    rememberAccess(accessFile, access);
    await ensureDatabase(access, database);
    return {
      url: `postgresql://postgres:${access.password}@127.0.0.1:${access.port}/${database}`,
      ...{ port: access.port, pid, reused, created, exited },
      // SIGINT ends sessions and writes a checkpoint, SIGQUIT leaves that to the next start's recovery.
      stop: ({ timeoutMs = 5_000, force } = {}) =>
        stopProcess({
          ...{ pid, exited, force },
          steps: [
            { signal: 'SIGINT', timeoutMs },
            { signal: 'SIGQUIT', timeoutMs: 500 },
          ],
        }),
    };
  };

  const left = await adoptPostgres(home.cluster, access.password);
  if (left) {
    log(`using the Postgres that an earlier run left (pid ${left.pid})`);
    access = { ...access, port: left.port };
    return asServer(left.pid, waitForExit(left.pid), true);
  }

  access = { ...access, port: await choosePort(port, access.port) };
  const deadline = Date.now() + LEFTOVER_MS;
  for (;;) {
    const started = await launchPostgres({ home, access, durable, logFile: path.join(dataDir, 'postgres.log') });
    if (!('failure' in started)) return asServer(started.pid, started.exited, false);
    const portTaken = PORT_TAKEN.test(started.failure);
    if (Date.now() > deadline || !(portTaken || LEFTOVER.test(started.failure))) {
      throw new Error(`Postgres did not start on port ${access.port}: ${started.failure}`);
    }
    if (portTaken && port === undefined) access = { ...access, port: await findFreePort() };
    await wait(100);
  }
};
