import { once } from 'node:events';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { type Network, validateAddress } from './validate-address.js';

/** Where to: `host` a name or a literal without brackets; a name must bring its `lookup`. */
type GuardedTarget = { host: string; port: number; lookup?: LookupFunction };

/** Begins a TLS connection. Throws an error of the code ERR_ADDRESS_REFUSED, or the socket is destroyed with one. */
type ConnectGuarded = (target: GuardedTarget) => TLSSocket;

/** How long a further address of a name is waited with after one that does not answer, in milliseconds. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
/** Of so many endpoints the last TLS session is kept, some kilobytes each: taking it up again saves both sides the costly half. */
const KEPT_SESSIONS = 1_000;

/** What the connector fails with when it is about to connect to a forbidden address. */
const refusal = (address: string, reason: string) =>
  Object.assign(new Error(`The address ${address} ${reason}.`), { code: 'ERR_ADDRESS_REFUSED' });

/** Lookups that fail instead of handing a forbidden address to the connector. */
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
 * The connector of webhooks: no connection to a forbidden address, whoever uses it. It judges what the socket is about to
 * connect to, and literals, for which Node asks no lookup. Certificates are checked whatever the environment says: a
 * delivery carries traders' data.
 */
export const connectGuarded = (allowed: readonly Network[], secureContext: SecureContext): ConnectGuarded => {
  const sessions = new Map<string, Buffer>();
  const keep = (endpoint: string, session: Buffer): void => {
    sessions.delete(endpoint);
    sessions.set(endpoint, session);
    const [oldest] = sessions.keys();
    if (sessions.size > KEPT_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  };

  return ({ host, port, lookup }) => {
    const literal = isIP(host) !== 0;
    const reason = literal ? validateAddress(host, allowed) : null;
    if (reason !== null) throw refusal(host, reason);
    if (!literal && !lookup) throw refusal(host, 'was never looked up');

    const endpoint = `${host}:${port}`;
    const session = sessions.get(endpoint);
    // Node's documentation of `tls.connect` names what these types leave out: it takes what `net.connect` takes.
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
    socket.on('session', (next: Buffer) => keep(endpoint, next));
    // One that was refused must not be offered again for ever.
    once(socket, 'secureConnect').catch(() => sessions.delete(endpoint));
    return socket;
  };
};

/**
 * One connection to an endpoint, for one attempt at a time. It is opened with the first request, and again with a later one
 * that finds it closed. Times are of the steady clock, null when the attempt that holds it had no need to connect.
 */
type Connection = {
  send: Client['dispatch'];
  openedAt: { start: number | null; tcp: number | null; ready: number | null };
  /** The address it is or was connected to. */
  address: string | null;
  /** Leaves it to the next attempt, or closes it when it cannot serve one. */
  release: () => void;
  /** Ends it at once, whatever it is doing. */
  destroy: () => void;
};

export type ConnectionPool = {
  /** A connection of this origin that rests, or a new one. `lookup` answers with the addresses judged for this attempt. */
  take: (url: URL, lookup: LookupFunction) => Connection;
  close: () => void;
};

type ConnectionPoolOptions = {
  connect: ConnectGuarded;
  /** An unused connection is let go after this long, in milliseconds; a receiver that asks for less gets less. */
  idleMs: number;
  /** Longer heads of answers end the attempt, in bytes. */
  maxHeaderBytes: number;
};

type Kept = Connection & { lookup: LookupFunction; isOpen: () => boolean };

const ignore = (): void => undefined;

/** Keeps connections open between attempts. How many there are at once is the business of whoever limits attempts. */
export const createConnectionPool = ({ connect, idleMs, maxHeaderBytes }: ConnectionPoolOptions): ConnectionPool => {
  const resting = new Map<string, Kept[]>();
  const all = new Set<Kept>();

  const rest = (origin: string, connection: Kept): void => {
    const there = resting.get(origin);
    if (there) there.push(connection);
    else resting.set(origin, [connection]);
  };
  const wake = (origin: string, connection: Kept): void => {
    const others = resting.get(origin)?.filter((other) => other !== connection) ?? [];
    if (others.length > 0) resting.set(origin, others);
    else resting.delete(origin);
  };

  const open = ({ origin, hostname, port }: URL, lookup: LookupFunction): Kept => {
    let socket: TLSSocket | null = null;
    const client = new Client(origin, {
      pipelining: 1,
      // An attempt has one deadline over everything, and it is not kept here.
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
          connection.address = opening.remoteAddress ?? null; // gone once the socket is destroyed
        });
        const fail = (error: Error) => connected(error, null);
        opening.once('error', fail);
        opening.once('secureConnect', () => {
          opening.off('error', fail);
          openedAt.ready = performance.now();
          connected(null, opening);
        });
        opening.once('close', () => {
          if (resting.get(origin)?.includes(connection)) connection.destroy();
        });
      },
    });
    const connection: Kept = {
      lookup,
      address: null,
      openedAt: { start: null, tcp: null, ready: null },
      send: (options, handler) => client.dispatch(options, handler),
      isOpen: () => socket !== null && !socket.destroyed,
      release: () => {
        if (connection.isOpen()) rest(origin, connection);
        else connection.destroy();
      },
      destroy: () => {
        all.delete(connection);
        wake(origin, connection);
        socket?.on('error', ignore).destroy();
        void client.destroy();
      },
    };
    all.add(connection);
    return connection;
  };

  return {
    take: (url, lookup) => {
      const there = resting.get(url.origin);
      const rested = there?.pop();
      if (there?.length === 0) resting.delete(url.origin);
      if (!rested) return open(url, lookup);
      rested.lookup = lookup;
      rested.openedAt = { start: null, tcp: null, ready: null };
      return rested;
    },
    close: () => {
      for (const connection of all) connection.destroy();
    },
  };
};
