import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '@vat/runtime';
import { type Pace, passBytes } from './pass-bytes.js';

/** The servers to connect to, as URLs or `host:port`: the first one that accepts the connection gets it. */
type Targets = string | (() => string[]);

/**
 * What an operation applies to: connections whose first bytes contain this text, such as the application name of a Postgres
 * client. All connections by default.
 */
type Greeting = string;

/** A TCP proxy on loopback with the faults of a network. */
export type TcpProxy = {
  port: number;
  /** The same URL with the proxy's address. */
  through: (url: string) => string;
  /** Closes connections. `side`: only towards the server, as when it gives up a client that it no longer reaches. */
  cut: (options?: { greeting?: Greeting; side?: 'both' | 'server' }) => void;
  /** Resets connections (RST) on both sides. */
  reset: (options?: { greeting?: Greeting }) => void;
  /**
   * From now on no byte and no end of a connection arrives at the other side, for new connections as well: they look open, and
   * nothing answers. `existing`: only for connections that are open now.
   */
  freeze: (options?: { greeting?: Greeting; existing?: boolean }) => void;
  /** Ends every freeze: what was sent in the meantime arrives. */
  thaw: () => void;
  /** Delays bytes, or limits how many pass a second in each direction; `{}` ends both. */
  slow: (pace: Pace) => void;
  refuse: () => Promise<void>;
  /** Accepts connections again after {@link TcpProxy.refuse}. */
  accept: () => Promise<void>;
  /** Connections accepted so far, those open now, those that no target accepted, and bytes passed in both directions. */
  counts: () => { accepted: number; open: number; unreachable: number; bytes: number };
  close: () => Promise<void>;
};

type Link = { client: Socket; server: Socket | null; greeting: string; frozen: boolean; thawed: () => void };

/** The longest part of a connection's first bytes that is compared with a {@link Greeting}. */
const GREETING_BYTES = 1_024;

const addressOf = (target: string): { host: string; port: number } => {
  const { hostname: host, port } = new URL(target.includes('://') ? target : `tcp://${target}`);
  return { host, port: Number(port) };
};

/** Connects to the first target that accepts; null when none does. */
const connectToOne = async (targets: string[]): Promise<Socket | null> => {
  for (const target of targets) {
    const socket = connect({ ...addressOf(target), allowHalfOpen: true, noDelay: true });
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (connected) return socket;
  }
  return null;
};

/** Opens a proxy to a server, or a balancer over several ones. Call `close` in `afterAll`. */
export const openTcpProxy = async ({ to }: { to: Targets }): Promise<TcpProxy> => {
  const links = new Set<Link>();
  const frozenGreetings = new Set<Greeting>();
  const counts = { accepted: 0, unreachable: 0, bytes: 0 };
  let pace: Pace = {};

  const isFrozen = (link: Link) =>
    link.frozen || [...frozenGreetings].some((greeting) => link.greeting.includes(greeting));
  const linksOf = (greeting: Greeting = '') => [...links].filter((link) => link.greeting.includes(greeting));

  const serve = async (client: Socket) => {
    counts.accepted += 1;
    client.on('error', () => undefined);
    const link: Link = { client, server: null, greeting: '', frozen: false, thawed: () => undefined };
    links.add(link);
    const server = await connectToOne(typeof to === 'string' ? [to] : to());
    if (server === null) counts.unreachable += 1;
    if (server === null || client.destroyed) {
      links.delete(link);
      client.destroy();
      server?.destroy();
      return;
    }
    link.server = server;
    server.on('error', () => undefined);
    const via = { isFrozen: () => isFrozen(link), pace: () => pace };
    const onBytes = (chunk: Buffer) => {
      counts.bytes += chunk.length;
    };
    const up = passBytes(client, server, {
      ...via,
      onBytes: (chunk) => {
        if (link.greeting.length < GREETING_BYTES)
          link.greeting = (link.greeting + chunk.toString('latin1')).slice(0, GREETING_BYTES);
        onBytes(chunk);
      },
    });
    const down = passBytes(server, client, { ...via, onBytes });
    link.thawed = () => {
      up();
      down();
    };
    const leave = () => {
      if (client.destroyed && server.destroyed) links.delete(link);
    };
    client.once('close', leave);
    server.once('close', leave);
  };

  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => void serve(client));
  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1');
    await once(listener, 'listening');
  };
  await listen(0);
  const { port } = listener.address() as AddressInfo;

  const thaw = () => {
    frozenGreetings.clear();
    for (const link of links) {
      link.frozen = false;
      link.thawed();
    }
  };
  return {
    port,
    through: (url) => {
      const { host } = new URL(url);
      return url.replace(host, `127.0.0.1:${port}`);
    },
    cut: ({ greeting, side = 'both' } = {}) => {
      for (const { client, server } of linksOf(greeting)) {
        server?.destroy();
        if (side === 'both') client.destroy();
      }
    },
    reset: ({ greeting } = {}) => {
      for (const { client, server } of linksOf(greeting)) {
        if (server) resetSocket(server);
        resetSocket(client);
      }
    },
    freeze: ({ greeting = '', existing = false } = {}) => {
      if (!existing) frozenGreetings.add(greeting);
      for (const link of linksOf(greeting)) link.frozen = true;
    },
    thaw,
    slow: (next) => {
      pace = next;
    },
    refuse: () => {
      // It ends when every connection has ended, but listens no more from the next turn on.
      listener.close();
      return new Promise((resolve) => setImmediate(resolve));
    },
    accept: () => listen(port),
    counts: () => ({ ...counts, open: links.size }),
    close: async () => {
      const closed = listener.listening || links.size > 0 ? once(listener, 'close') : Promise.resolve();
      if (listener.listening) listener.close();
      for (const { client, server } of links) {
        client.destroy();
        server?.destroy();
      }
      thaw();
      await closed;
    },
  };
};
