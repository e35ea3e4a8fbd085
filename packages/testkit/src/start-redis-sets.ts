import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestAuthority } from './create-test-authority.js';
import { openTcpProxy } from './open-tcp-proxy.js';
import { type RedisNode, startRedisNode } from './redis-node.js';
import { until } from './until.js';

/** Redis processes that a service uses as one. `url`: the REDIS_URL; `ca`: with TLS, the PEM file for REDIS_CA. */
export type RedisSet = { url: string; ca?: string; stop: () => Promise<void> };

/** `tls`: every port of the set accepts TLS only. */
type SetOptions = { tls?: boolean };

type StartNode = (options: Omit<Parameters<typeof startRedisNode>[0], 'folder' | 'tls'>) => Promise<RedisNode>;

/** Characters that a URL must encode. */
const PASSWORD = 'p@ss/w:rd';
const SENTINEL_PASSWORD = 's3nt%nel';
const LOGIN = `:${encodeURIComponent(PASSWORD)}@`;

const NODE = [
  `requirepass "${PASSWORD}"`,
  `masterauth "${PASSWORD}"`,
  'save ""',
  'appendonly no',
  'repl-diskless-sync-delay 0',
] as const;

/** What makes a Redis process use TLS, with a certificate that an authority of its own signed. */
const configureTls = async (folder: string) => {
  const authority = await createTestAuthority();
  const files = { ca: authority.ca, ...(await authority.issue({ ip: ['127.0.0.1'] })) };
  const file = (name: keyof typeof files) => path.join(folder, `${name}.pem`);
  for (const name of ['ca', 'key', 'cert'] as const) writeFileSync(file(name), files[name]);
  return {
    ca: file('ca'),
    connect: { tls: { ca: files.ca } },
    config: [
      ...[`tls-cert-file ${file('cert')}`, `tls-key-file ${file('key')}`, `tls-ca-cert-file ${file('ca')}`],
      ...['tls-auth-clients no', 'tls-replication yes'],
    ],
  };
};

/** Starts the processes of a set. When one does not start, the others are stopped. `scheme` begins its URL. */
const startSet = async <T extends { url: string }>(
  { tls = false }: SetOptions,
  make: (start: StartNode, scheme: 'redis' | 'rediss') => Promise<T>,
): Promise<T & RedisSet> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-redis-'));
  const secured = tls ? await configureTls(folder) : null;
  const starting: Promise<RedisNode>[] = [];
  const stop = async () => {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map(async (node) => node.status === 'fulfilled' && node.value.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  const start: StartNode = ({ config, connect, ...options }) => {
    const node = startRedisNode({
      ...{ folder, tls, ...options },
      ...{ config: [...config, ...(secured?.config ?? [])], connect: { ...connect, ...secured?.connect } },
    });
    starting.push(node);
    return node;
  };
  try {
    const set = await make(start, tls ? 'rediss' : 'redis');
    return { ...set, ...(secured ? { ca: secured.ca } : {}), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const hostsOf = (nodes: readonly RedisNode[]): string => nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');

/** Starts one Redis that accepts TLS only. */
export const startTlsRedis = (): Promise<RedisSet> =>
  startSet({ tls: true }, async (start, scheme) => {
    const node = await start({ config: NODE, connect: { password: PASSWORD } });
    return { url: `${scheme}://${LOGIN}${hostsOf([node])}/0` };
  });

const startPair = async (start: StartNode): Promise<[RedisNode, RedisNode]> => {
  const connect = { password: PASSWORD };
  const first = await start({ config: NODE, connect });
  const second = await start({
    config: [...NODE, `replicaof 127.0.0.1 ${first.port}`, 'repl-ping-replica-period 1'],
    connect,
  });
  return [first, second];
};

/** A master with a replica, behind one address that leads new connections to the master. */
export type SwappedPair = RedisSet & {
  /** Makes the replica the master. The former master becomes its replica, and keeps its connections. */
  swap: () => Promise<void>;
};

export const startSwappedPair = async (): Promise<SwappedPair> => {
  const pair = await startSet({}, async (start, scheme) => {
    let [master, replica] = await startPair(start);
    await until('the replica to be in sync', async () =>
      /master_link_status:up/.test(await replica.redis.info('replication')),
    );
    const proxy = await openTcpProxy({ to: () => [hostsOf([master])] });
    const swap = async () => {
      await replica.redis.call('REPLICAOF', 'NO', 'ONE');
      await master.redis.call('REPLICAOF', '127.0.0.1', String(replica.port));
      [master, replica] = [replica, master];
    };
    return { url: proxy.through(`${scheme}://${LOGIN}${hostsOf([master])}/0`), swap, closeProxy: proxy.close };
  });
  const { url, swap, closeProxy, stop } = pair;
  return { url, swap, stop: () => Promise.all([closeProxy(), stop()]).then(() => undefined) };
};

/** A master with a replica, and three Sentinels that replace the master. */
export type SentinelSet = RedisSet & {
  sentinels: RedisNode[];
  /** The node that the Sentinels name as the master. */
  master: () => Promise<RedisNode>;
  /** The node that is not the master. */
  replica: () => Promise<RedisNode>;
};

const MASTER = 'vat-master';

/** Starts a Sentinel set, and waits until it can replace its master. */
export const startSentinelSet = (options: SetOptions = {}): Promise<SentinelSet> =>
  startSet(options, async (start, scheme) => {
    const [first, second] = await startPair(start);
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () =>
        start({
          flags: ['--sentinel'],
          config: [
            ...[`requirepass "${SENTINEL_PASSWORD}"`, `sentinel sentinel-pass "${SENTINEL_PASSWORD}"`],
            ...[`sentinel monitor ${MASTER} 127.0.0.1 ${first.port} 2`, `sentinel auth-pass ${MASTER} "${PASSWORD}"`],
            ...[`sentinel down-after-milliseconds ${MASTER} 1000`, `sentinel failover-timeout ${MASTER} 3000`],
          ],
          connect: { password: SENTINEL_PASSWORD },
        }),
      ),
    );
    const nodes = [first, second];
    const inform = async (sentinel: RedisNode) => {
      const [state] = (await sentinel.redis.call('SENTINEL', 'MASTERS')) as string[][];
      return Object.fromEntries((state ?? []).flatMap((name, n, all) => (n % 2 === 0 ? [[name, all[n + 1]]] : [])));
    };
    await until(
      'the Sentinels to know each other and the replica',
      async () =>
        (await Promise.all(sentinels.map(inform))).every(
          (state) => state['num-other-sentinels'] === '2' && state['num-slaves'] === '1',
        ),
      20_000,
    );
    const byRole = async (isMaster: boolean): Promise<RedisNode> => {
      const [sentinel] = sentinels;
      const named = (await sentinel?.redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)) as string[];
      const node = nodes.find(({ port }) => (port === Number(named[1])) === isMaster);
      if (!node) throw new Error('the Sentinels name an unknown master');
      return node;
    };
    return {
      url: `${scheme}-sentinel://${LOGIN}${hostsOf(sentinels)}/${MASTER}/0?sentinel_password=${encodeURIComponent(SENTINEL_PASSWORD)}`,
      sentinels,
      master: () => byRole(true),
      replica: () => byRole(false),
    };
  });

/** Three masters, the first of which has a replica. */
export type ClusterSet = RedisSet & {
  masters: [RedisNode, RedisNode, RedisNode];
  replica: RedisNode;
  /** Moves one slot with all its keys to another master, while clients use it. */
  moveSlot: (slot: number, from: RedisNode, to: RedisNode) => Promise<void>;
};

const SLOTS = 16_384;

const idOf = async ({ redis }: RedisNode): Promise<string> => String(await redis.call('CLUSTER', 'MYID'));

/** Starts a cluster, and waits until it serves every slot and can replace its first master. */
export const startClusterSet = (options: SetOptions = {}): Promise<ClusterSet> =>
  startSet(options, async (start, scheme) => {
    const startNode = () =>
      start({
        cluster: true,
        config: [
          ...NODE,
          'cluster-enabled yes',
          ...(options.tls ? ['tls-cluster yes'] : []),
          'cluster-config-file nodes.conf',
          'cluster-node-timeout 1000',
          'cluster-replica-validity-factor 0',
          'cluster-allow-replica-migration no',
        ],
        connect: { password: PASSWORD },
      });
    const [first, second, third, replica] = await Promise.all([startNode(), startNode(), startNode(), startNode()]);
    const masters: ClusterSet['masters'] = [first, second, third];
    const nodes = [...masters, replica];
    const busPort = async ({ redis }: RedisNode) =>
      String(((await redis.config('GET', 'cluster-port')) as string[])[1]);
    const ends = masters.map((_master, n) => Math.floor((SLOTS * (n + 1)) / masters.length));
    await Promise.all(
      masters.map(async ({ redis }, n) => {
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', String(ends[n - 1] ?? 0), String((ends[n] ?? SLOTS) - 1));
        await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1));
      }),
    );
    const bus = await busPort(first);
    for (const node of nodes.slice(1)) await node.redis.call('CLUSTER', 'MEET', '127.0.0.1', String(first.port), bus);
    const firstId = await idOf(first);
    await until('the replica to know its master', () =>
      replica.redis.call('CLUSTER', 'REPLICATE', firstId).then(
        () => true,
        () => false,
      ),
    );
    const agree = async ({ redis }: RedisNode) => {
      const info = String(await redis.call('CLUSTER', 'INFO'));
      const known = String(await redis.call('CLUSTER', 'NODES'));
      return /cluster_state:ok/.test(info) && known.includes(`slave ${firstId} `) && !/handshake|fail/.test(known);
    };
    await until('the cluster', async () => (await Promise.all(nodes.map(agree))).every(Boolean), 30_000);
    await until('the replica to be in sync', async () =>
      /master_link_status:up/.test(await replica.redis.info('replication')),
    );

    const moveSlot: ClusterSet['moveSlot'] = async (slot, from, to) => {
      const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
      await to.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
      await from.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
      for (;;) {
        const keys = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
        if (keys.length === 0) break;
        await from.redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'AUTH', PASSWORD, 'KEYS', ...keys);
      }
      for (const { redis } of [to, from, ...masters]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    };
    return {
      url: `${scheme}-cluster://${LOGIN}${hostsOf(masters)}`,
      masters,
      replica,
      moveSlot,
    };
  });
