import { once } from 'node:events';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { type Network, validateAddress } from './validate-address.js';

/** The target of a connection: `host` is a name or a literal without brackets; a name requires a `lookup`. */
type GuardedTarget = { host: string; port: number; lookup?: LookupFunction };

/**
 * Opens a TLS connection. For a refused address it throws an error with code ERR_ADDRESS_REFUSED or destroys the
 * socket with one.
 */
type ConnectGuarded = (target: GuardedTarget) => TLSSocket;

/** Milliseconds to wait for one address of a name before the next one is tried. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
/**
 * The last TLS session is cached for at most this many endpoints, some kilobytes each. Resuming one saves most of the
 * handshake.
 */
const MAX_CACHED_SESSIONS = 1_000;

/** The error of the connector for a forbidden address. */
const refusal = (address: string, reason: string) =>
  Object.assign(new Error(`The address ${address} ${reason}.`), { code: 'ERR_ADDRESS_REFUSED' });

/** Wraps a lookup so that it fails instead of returning a forbidden address. */
const guard =
  (lookup: LookupFunction, allowed: readonly Network[]): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
      for (const address of addresses) {
        const reason = validateAddress(address, allowed);
        if (reason !== null) return callback(refusal(address, reason), found, family);
      }
      callback(null, found, family);
    });

/**
 * The connector of webhooks never connects to a forbidden address. It validates the addresses that the socket is about to
 * connect to, and literals, for which Node calls no lookup. Certificates are verified whatever the environment says,
 * because a delivery contains traders' data.
 */
export const connectGuarded = (allowed: readonly Network[], secureContext: SecureContext): ConnectGuarded => {
  const sessions = new Map<string, Buffer>();
  const cacheSession = (endpoint: string, session: Buffer): void => {
    sessions.delete(endpoint);
    sessions.set(endpoint, session);
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_CACHED_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  };

  return ({ host, port, lookup }) => {
    const literal = isIP(host) !== 0;
    const reason = literal ? validateAddress(host, allowed) : null;
    if (reason !== null) throw refusal(host, reason);
    if (!literal && !lookup) throw refusal(host, 'was never looked up');

    const endpoint = `${host}:${port}`;
    const session = sessions.get(endpoint);
    // `tls.connect` accepts the options of `net.connect`, as Node's documentation says; its types omit them.
    const options: ConnectionOptions & TcpNetConnectOpts = {
      host,
      port,
      secureContext,
      rejectUnauthorized: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      ALPNProtocols: ['http/1.1'],
      ...(!literal && { servername: host }),
      ...(lookup && { lookup: guard(lookup, allowed) }),
      ...(session && { session }),
    };
    const socket = connect(options);
    socket.setNoDelay(true);
    socket.on('session', (next: Buffer) => cacheSession(endpoint, next));
    // A session that the receiver refuses must not be offered again.
    once(socket, 'secureConnect').catch(() => sessions.delete(endpoint));
    return socket;
  };
};

/**
 * One connection to an endpoint, for one attempt at a time. The first request opens it; a later request reopens it if it
 * is closed. Times are those of `performance.now()`, null when the current attempt did not connect.
 */
type Connection = {
  send: Client['dispatch'];
  openedAt: { start: number | null; tcp: number | null; ready: number | null };
  /** The remote address of the current or last connection. */
  address: string | null;
  /** Returns the connection to the pool, or closes it if it is not usable. */
  release: () => void;
  /** Closes the connection at once, whatever its state. */
  destroy: () => void;
};

export type ConnectionPool = {
  /** An idle connection to this origin, or a new one. `lookup` returns the addresses validated for this attempt. */
  acquire: (url: URL, lookup: LookupFunction) => Connection;
  close: () => void;
};

type ConnectionPoolOptions = {
  connect: ConnectGuarded;
  /**
   * Milliseconds after which an unused connection is closed; a shorter keep-alive hint of the receiver is
   * respected.
   */
  idleMs: number;
  /** The longest head of an answer, in bytes; a longer one ends the attempt. */
  maxHeaderBytes: number;
};

type PooledConnection = Connection & { lookup: LookupFunction; isOpen: () => boolean };

const ignore = (): void => undefined;

/**
 * Reuses connections between attempts. It does not limit their number; the permits of an endpoint limit its attempts.
 */
export const createConnectionPool = ({ connect, idleMs, maxHeaderBytes }: ConnectionPoolOptions): ConnectionPool => {
  const idle = new Map<string, PooledConnection[]>();
  const all = new Set<PooledConnection>();

  const addIdle = (origin: string, connection: PooledConnection): void => {
    const others = idle.get(origin);
    if (others) others.push(connection);
    else idle.set(origin, [connection]);
  };
  const removeIdle = (origin: string, connection: PooledConnection): void => {
    const others = idle.get(origin)?.filter((other) => other !== connection) ?? [];
    if (others.length > 0) idle.set(origin, others);
    else idle.delete(origin);
  };

  const open = ({ origin, hostname, port }: URL, lookup: LookupFunction): PooledConnection => {
    let socket: TLSSocket | null = null;
    const client = new Client(origin, {
      pipelining: 1,
      // The sender applies one deadline to the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      maxHeaderSize: maxHeaderBytes,
      connect: (_target, connected) => {
        const { openedAt } = connection;
        openedAt.start = performance.now();
        let opening: TLSSocket;
        try {
          const host = hostname.replace(/^\[|\]$/g, '');
          opening = connect({ host, port: Number(port || 443), lookup: connection.lookup });
        } catch (error) {
          return connected(error as Error, null);
        }
        socket = opening;
        opening.once('connect', () => {
          openedAt.tcp = performance.now();
          connection.address = opening.remoteAddress ?? null; // undefined once the socket is destroyed
        });
        const fail = (error: Error) => connected(error, null);
        opening.once('error', fail);
        opening.once('secureConnect', () => {
          opening.off('error', fail);
          openedAt.ready = performance.now();
          connected(null, opening);
        });
        opening.once('close', () => {
          if (idle.get(origin)?.includes(connection)) connection.destroy();
        });
      },
    });
    const connection: PooledConnection = {
      lookup,
      address: null,
      openedAt: { start: null, tcp: null, ready: null },
      send: (options, handler) => client.dispatch(options, handler),
      isOpen: () => socket !== null && !socket.destroyed,
      release: () => {
        if (connection.isOpen()) addIdle(origin, connection);
        else connection.destroy();
      },
      destroy: () => {
        all.delete(connection);
        removeIdle(origin, connection);
        socket?.on('error', ignore).destroy();
        void client.destroy();
      },
    };
    all.add(connection);
    return connection;
  };

  return {
    acquire: (url, lookup) => {
      const available = idle.get(url.origin);
      const connection = available?.pop();
      if (available?.length === 0) idle.delete(url.origin);
      if (!connection) return open(url, lookup);
      connection.lookup = lookup;
      connection.openedAt = { start: null, tcp: null, ready: null };
      return connection;
    },
    close: () => {
      for (const connection of all) connection.destroy();
    },
  };
};
