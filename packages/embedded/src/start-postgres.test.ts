import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type EmbeddedServer, inspectProcess, isPortFree, startPostgres } from './index.js';

const query = async (url: string, sql: string): Promise<Record<string, unknown>> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0] as Record<string, unknown>;
  } finally {
    await client.end();
  }
};

// A test starts several servers; initdb alone takes a second or two while other tests run.

describe('startPostgres', () => {
  // One cluster for the tests that do not need their own.
  let dataDir: string;
  const folders: string[] = [];
  const servers: EmbeddedServer[] = [];
  const squatters: Server[] = [];
  // When root runs the tests, the user of Postgres cannot enter the 0700 folder of mkdtemp: every test covers that case.
  const makeFolder = () => mkdtempSync(path.join(os.tmpdir(), 'vat-postgres-'));
  const newFolder = () => {
    const folder = makeFolder();
    folders.push(folder);
    return folder;
  };
  const start = async (options: Parameters<typeof startPostgres>[0]) => {
    const server = await startPostgres({ durable: false, ...options });
    servers.push(server);
    return server;
  };
  beforeAll(async () => {
    dataDir = makeFolder();
    await (await startPostgres({ dataDir, durable: false })).stop();
  });
  afterAll(() => rmSync(dataDir, { recursive: true }));
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    for (const squatter of squatters.splice(0)) await new Promise((resolve) => squatter.close(resolve));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it('serves Postgres 18 in UTF-8 and UTC from a folder that other users cannot enter', async () => {
    const server = await start({ dataDir });
    const row = await query(
      server.url,
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('TimeZone') AS zone,
              current_setting('server_encoding') AS encoding, current_database() AS database, upper('ä') AS upper`,
    );
    expect(row).toEqual({ version: 18, zone: 'UTC', encoding: 'UTF8', database: 'vat', upper: 'Ä' });
    expect(server).toMatchObject({ reused: false, created: false });
    expect(inspectProcess(server.pid)?.name).toBe('postgres');
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('refuses a connection without the password', async () => {
    const server = await start({ dataDir });
    const url = new URL(server.url);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('is durable by default', async () => {
    const server = await start({ dataDir, durable: true });
    expect(await query(server.url, 'SHOW fsync')).toEqual({ fsync: 'on' });
    expect(await query(server.url, 'SHOW synchronous_commit')).toEqual({ synchronous_commit: 'on' });
  });

  it('has the same data and address after a stop and a start', async () => {
    const first = await start({ dataDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    expect(await first.exited).toBe('exit code 0');
    expect(await isPortFree(first.port)).toBe(true);
    const second = await start({ dataDir });
    expect(second).toMatchObject({ url: first.url, created: false, reused: false });
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual({ answer: 42 });
  });

  it('restarts at the same address after kill -9 with clients connected', async () => {
    const first = await start({ dataDir, durable: true });
    const client = new pg.Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TABLE survived AS SELECT 42 AS answer');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toBe('SIGKILL');
    const second = await start({ dataDir, port: first.port });
    expect(second).toMatchObject({ url: first.url, reused: false });
    expect(second.pid).not.toBe(first.pid);
    expect(await query(second.url, 'SELECT answer FROM survived')).toEqual({ answer: 42 });
    await client.end().catch(() => undefined);
  });

  it('restarts at the same address when its access data cannot be written', async () => {
    const first = await start({ dataDir, durable: true });
    const temporary = path.join(dataDir, `postgres.json.${process.pid}`);
    mkdirSync(temporary);
    try {
      process.kill(first.pid, 'SIGKILL');
      await first.exited;
      expect(await start({ dataDir, port: first.port })).toMatchObject({ url: first.url, reused: false });
    } finally {
      rmdirSync(temporary);
    }
  });

  it('takes over the server of a killed parent', async () => {
    const index = path.join(import.meta.dirname, 'index.ts');
    const parent = spawn(
      process.execPath,
      [
        ...['--conditions=development', '--import', 'tsx', '--input-type=module', '-e'],
        `import { startPostgres } from ${JSON.stringify(index)};
         const { pid } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, durable: false });
         process.stdout.write(String(pid));
         setInterval(() => undefined, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    const server = await start({ dataDir });
    expect(server).toMatchObject({ pid: Number(String(pid)), reused: true, created: false });
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual({ one: 1 });
    await server.stop();
    expect(inspectProcess(server.pid)).toBeNull();
  });

  it('replaces a server that is stopped by SIGSTOP', async () => {
    const first = await start({ dataDir });
    process.kill(first.pid, 'SIGSTOP');
    const second = await start({ dataDir });
    expect(await first.exited).toBe('SIGKILL');
    expect(second).toMatchObject({ reused: false, url: first.url });
  });

  it('runs two servers at once', async () => {
    const [one, two] = await Promise.all([start({ dataDir }), start({ dataDir: newFolder() })]);
    expect(one.port).not.toBe(two.port);
    expect(await query(one.url, 'SELECT 1 AS one')).toEqual({ one: 1 });
    expect(await query(two.url, 'SELECT 1 AS one')).toEqual({ one: 1 });
  });

  it('takes another port when its own is in use', async () => {
    const first = await start({ dataDir });
    await first.stop();
    const squatter = createServer().listen(first.port, '127.0.0.1');
    squatters.push(squatter);
    await once(squatter, 'listening');
    const second = await start({ dataDir });
    expect(second.port).not.toBe(first.port);
  });

  it('starts an empty database when its folder was deleted', async () => {
    const folder = newFolder();
    const first = await start({ dataDir: folder });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    chmodSync(folder, 0o700);
    const second = await start({ dataDir: folder });
    expect(second.created).toBe(true);
    expect(await query(second.url, "SELECT to_regclass('kept') AS kept")).toEqual({ kept: null });
  });

  it('has the data of a folder that was moved, and never serves those of the original to a copy', async () => {
    const original = newFolder();
    const first = await start({ dataDir: original });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const hot = `${original}-hot`;
    cpSync(original, hot, { recursive: true });
    folders.push(hot);
    await expect(start({ dataDir: hot })).rejects.toThrow(new RegExp(`copy of ${original}.*admin backup`));
    await first.stop();
    const copy = `${original}-copy`;
    cpSync(original, copy, { recursive: true });
    folders.push(copy);
    // The files are in the folder itself, unless the user of Postgres cannot enter it.
    if (existsSync(path.join(original, 'instance-id'))) {
      await expect(start({ dataDir: copy })).rejects.toThrow(new RegExp(`copy of ${original},.*admin backup`));
    } else {
      const second = await start({ dataDir: copy });
      await query(second.url, 'DROP TABLE kept');
      await second.stop();
    }
    const moved = `${original}-moved`;
    renameSync(original, moved);
    folders.push(moved);
    for (const _start of [1, 2]) {
      const again = await start({ dataDir: moved });
      expect(await query(again.url, 'SELECT answer FROM kept')).toEqual({ answer: 42 });
      await again.stop();
    }
    // The start of another new folder deletes the files of those that are gone.
    await start({ dataDir: newFolder() });
    const last = await start({ dataDir: moved });
    expect(await query(last.url, 'SELECT answer FROM kept')).toEqual({ answer: 42 });
  });

  it('does not replace a stored password that it cannot read, such as that of another user', async () => {
    const folder = newFolder();
    const stored = path.join(folder, 'postgres.json');
    // Not a mode, which root may ignore.
    symlinkSync(stored, stored);
    await expect(start({ dataDir: folder })).rejects.toThrow(
      /postgres\.json cannot be read \(ELOOP\): start as the user/,
    );
    expect(lstatSync(stored).isSymbolicLink()).toBe(true);
  });

  it('refuses a folder whose database root stored elsewhere, when that is not there', async () => {
    const folder = newFolder();
    // As on the machine to which such a folder was carried.
    writeFileSync(path.join(folder, 'instance-id'), `${randomUUID()}\n`);
    writeFileSync(path.join(folder, 'postgres.json'), '{"port":20000,"password":"of the other machine"}\n');
    await expect(start({ dataDir: folder })).rejects.toThrow(
      /is not in it: npm start, run by root, stored it in .*admin backup/,
    );
    expect(readdirSync(folder).sort()).toEqual(['instance-id', 'postgres.json']);
  });
});
