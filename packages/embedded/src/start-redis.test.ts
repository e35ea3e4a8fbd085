import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { type EmbeddedServer, inspectProcess, startRedis } from './index.js';

// Shared with `npm start` and the other tests, so that the Debian package is fetched once per clone.
const binDir = path.resolve(import.meta.dirname, '../../../.data/redis-bin');

const withRedis = async <T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> => {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
};

// The first test of a clone may have to fetch the server.

describe('startRedis', () => {
  const folders: string[] = [];
  const servers: EmbeddedServer[] = [];
  const squatters: Server[] = [];
  const newFolder = () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'vat-redis-'));
    folders.push(folder);
    return folder;
  };
  const start = async (options: Parameters<typeof startRedis>[0]) => {
    const server = await startRedis({ binDir, ...options });
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    for (const squatter of squatters.splice(0)) await new Promise((resolve) => squatter.close(resolve));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it('serves with the configuration that queues need: append-only file, no eviction, a password', async () => {
    const server = await start({ dataDir: newFolder() });
    const config = await withRedis(server.url, (redis) =>
      redis.config('GET', 'appendonly', 'maxmemory-policy', 'save', 'bind'),
    );
    expect(config).toEqual(
      expect.arrayContaining(['appendonly', 'yes', 'maxmemory-policy', 'noeviction', 'save', '', 'bind', '127.0.0.1']),
    );
    const anonymous = `redis://127.0.0.1:${server.port}/0`;
    await expect(withRedis(anonymous, (redis) => redis.config('GET', 'dir'))).rejects.toThrow();
    expect(server).toMatchObject({ reused: false, created: true });
  });

  it('writes nothing to disk when it is not durable', async () => {
    const server = await start({ dataDir: newFolder(), durable: false });
    expect(await withRedis(server.url, (redis) => redis.config('GET', 'appendonly'))).toEqual(['appendonly', 'no']);
  });

  it('has the same data and address after a restart, and after kill -9', async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir });
    await withRedis(first.url, (redis) => redis.set('kept', 'one'));
    await first.stop();
    const second = await start({ dataDir });
    expect(second).toMatchObject({ url: first.url, created: false, reused: false });
    await withRedis(second.url, async (redis) => {
      await redis.config('SET', 'appendfsync', 'always');
      await redis.set('kept too', 'two');
    });
    process.kill(second.pid, 'SIGKILL');
    expect(await second.exited).toBe('SIGKILL');
    const third = await start({ dataDir, port: second.port });
    expect(third.url).toBe(first.url);
    expect(await withRedis(third.url, (redis) => redis.mget('kept', 'kept too'))).toEqual(['one', 'two']);
  });

  it('takes over a running server and reports its exit', async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir });
    const second = await start({ dataDir });
    expect(second).toMatchObject({ pid: first.pid, url: first.url, reused: true });
    process.kill(first.pid, 'SIGKILL');
    expect(await second.exited).toBe('gone');
  });

  it('replaces a server that is stopped by SIGSTOP', async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir });
    process.kill(first.pid, 'SIGSTOP');
    const second = await start({ dataDir });
    expect(await first.exited).toBe('SIGKILL');
    expect(second).toMatchObject({ reused: false, url: first.url });
  });

  it('ends a server stopped by SIGSTOP within its time-out', async () => {
    const server = await start({ dataDir: newFolder() });
    process.kill(server.pid, 'SIGSTOP');
    await server.stop();
    expect(inspectProcess(server.pid)).toBeNull();
  });

  it('runs two servers at once, and does not use a port that is in use', async () => {
    const dataDir = newFolder();
    const [one, two] = await Promise.all([start({ dataDir }), start({ dataDir: newFolder() })]);
    expect(one.port).not.toBe(two.port);
    await one.stop();
    const squatter = createServer((socket) => socket.end('220 not redis\r\n')).listen(one.port, '127.0.0.1');
    squatters.push(squatter);
    await once(squatter, 'listening');
    const three = await start({ dataDir });
    expect(three.port).not.toBe(one.port);
  });

  it('prefers a redis-server on PATH to fetching one', async () => {
    const folder = newFolder();
    const calls = path.join(folder, 'calls');
    mkdirSync(path.join(folder, 'bin'));
    const fake = path.join(folder, 'bin/redis-server');
    writeFileSync(
      fake,
      `#!/bin/sh\necho "$1" >> ${calls}\n[ "$1" = --version ] && exit 0\necho "the one on PATH" >&2; exit 3\n`,
    );
    chmodSync(fake, 0o755);
    await expect(
      startRedis({ dataDir: path.join(folder, 'data'), env: { PATH: `${folder}/bin:/usr/bin:/bin` } }),
    ).rejects.toThrow(/the one on PATH/);
  });

  it('throws with advice when no server is installed and none can be fetched', async () => {
    const folder = newFolder();
    const env = { PATH: folder };
    await expect(startRedis({ dataDir: folder, env })).rejects.toThrow(
      /there is no apt here.*apt install.*dnf install.*apk add.*brew.*REDIS_URL.*docker/,
    );
    writeFileSync(path.join(folder, 'apt-get'), '#!/bin/sh\necho "E: Temporary failure resolving" >&2\nexit 100\n', {
      mode: 0o755,
    });
    await expect(startRedis({ dataDir: folder, env })).rejects.toThrow(/could not be fetched \(E: Temporary failure/);
  });
});
