import {
  configureWebhook,
  createTestTsa,
  openReceivers,
  openTcpProxy,
  startWorld,
  type TcpProxy,
  type World,
} from '@vat/testkit';

const RETRIES = ['300ms', ...Array.from({ length: 40 }, () => '2s')].join(',');

/** The connections between two parts; `slots` are those of a worker's member-state slots. */
export const LINKS = [
  'api to postgres',
  'worker to postgres',
  'slots to postgres',
  'api to redis',
  'worker to redis',
  'worker to vies',
  'worker to receiver',
  'worker to tsa',
] as const;
export type Link = (typeof LINKS)[number];

/** A world whose API and first worker reach everything through proxies. */
export type Network = {
  world: World;
  proxy: (link: Link) => TcpProxy;
  /** Which connections of the proxy belong to the link. */
  connectionsOf: (link: Link) => { greeting?: string };
  /** Ends every freeze. */
  thaw: () => void;
  close: () => Promise<void>;
};

/** Starts the world, with a second worker that reaches everything directly: what the first one leaves goes on. */
export const openNetwork = async (settings: Record<string, string>): Promise<Network> => {
  const receivers = openReceivers();
  const tsa = await createTestTsa();
  await tsa.open();
  const proxies = new Map<string, TcpProxy>();
  /** The address of a proxy to it. */
  const through = async (name: string, to: string): Promise<string> => {
    const proxy = await openTcpProxy({ to: new URL(to).host });
    proxies.set(name, proxy);
    return proxy.through(to);
  };
  const thaw = () => {
    for (const proxy of proxies.values()) proxy.thaw();
  };
  const closeOthers = async () => {
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    await Promise.all([receivers.close(), tsa.close()]);
  };
  const world = await startWorld({
    ownProcesses: true,
    apis: 0,
    workers: 0,
    settings: {
      ...receivers.settings,
      UPSTREAM_ATTEMPT_TIMEOUT: '2s',
      BACKGROUND_RETRY_DELAYS: '500ms',
      BACKGROUND_GIVE_UP_AFTER: '30m',
      SWEEP_EVERY: '500ms',
      ...{ WEBHOOK_TIMEOUT: '1s', WEBHOOK_RETRY_DELAYS: RETRIES, ANCHOR_EVERY: '1s' },
      ...{ TSA_URL: await through('worker to tsa', tsa.url), TSA_ROOTS: tsa.root, TSA_RETRY_DELAYS: '500ms' },
      ...{ LOG_LEVEL: 'warn', ...settings },
    },
  }).catch(async (error: unknown) => {
    await closeOthers();
    throw error;
  });
  const { DATABASE_URL = '', REDIS_URL = '' } = world.settings;
  const servers = async (part: string) => ({
    DATABASE_URL: await through(`${part} to postgres`, DATABASE_URL),
    REDIS_URL: await through(`${part} to redis`, REDIS_URL),
  });
  const VIES_URL = await through('worker to vies', world.vies.url);
  await world.startApi(await servers('api'));
  await world.startWorker({ ...(await servers('worker')), VIES_URL });
  await world.startWorker();
  const receiver = await receivers.start();
  await configureWebhook(world, world.account, await through('worker to receiver', receiver.url));
  return {
    world,
    proxy: (link) => {
      const found = proxies.get(link.replace('slots', 'worker'));
      if (found === undefined) throw new Error(`no proxy for ${link}`);
      return found;
    },
    connectionsOf: (link) => (link === 'slots to postgres' ? { greeting: 'vat-slots' } : {}),
    thaw,
    close: async () => {
      thaw();
      await world.stop();
      await closeOthers();
    },
  };
};
