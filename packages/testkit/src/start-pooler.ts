import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provideTool } from './provide-tool.js';
import { POSTGRES_VARIABLE } from './test-servers.js';

type PoolerOptions = {
  mode?: 'transaction' | 'session';
  /** Connections to each database. */
  poolSize?: number;
};

export type Pooler = {
  /** The address of a database behind the pooler, given its direct address. */
  urlOf: (databaseUrl: string) => string;
  stop: () => Promise<void>;
};

/** Debian's defaults otherwise: no start-up parameter is ignored, and nothing is done for named statements. */
const configuration = ({ mode = 'transaction', poolSize = 20 }: PoolerOptions, port: number): string => {
  const { hostname, port: serverPort, username, password } = new URL(process.env[POSTGRES_VARIABLE] ?? '');
  return [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
    ...[`pool_mode = ${mode}`, `default_pool_size = ${poolSize}`, 'max_client_conn = 2000'],
    // PgBouncer refuses to run as root.
    ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
    '',
  ].join('\n');
};

const START_TIMEOUT_MS = 20_000;

/** Starts PgBouncer for all databases of the run's server on a free port, and waits until it accepts connections. */
export const startPooler = async (options: PoolerOptions = {}): Promise<Pooler> => {
  const [{ file, env }, { findFreePort }] = await Promise.all([provideTool('pgbouncer'), import('@vat/embedded')]);
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-pooler-'));
  const port = await findFreePort();
  const settings = path.join(folder, 'pgbouncer.ini');
  writeFileSync(settings, configuration(options, port), { mode: 0o600 });
  const child = spawn(file, [settings], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error(`PgBouncer did not start:\n${log}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail();
    }, START_TIMEOUT_MS);
    child.once('error', fail);
    void exited.then(fail);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      // Only the start is of interest; each connection adds lines.
      if (log.length < 10_000) log += text;
      if (!log.includes('process up')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  return {
    urlOf: (databaseUrl) => {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
