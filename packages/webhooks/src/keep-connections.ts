import type { LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { ConnectGuarded } from './connect-guarded.js';

/**
 * One connection to an endpoint, for one attempt at a time. It is opened with the first request, and again with a later one
 * that finds it closed. Times are of the steady clock, null when the attempt that holds it had no need to connect.
 */
export type Connection = {
  send: Client['dispatch'];
  openedAt: { start: number | null; tcp: number | null; ready: number | null };
  /** The address it is or was connected to. */
  address: string | null;
  /** Leaves it to the next attempt, or closes it when it cannot serve one. */
  release: () => void;
  /** Ends it at once, whatever it is doing. */
  destroy: () => void;
};

export type KeptConnections = {
  /** A connection of this origin that rests, or a new one. `lookup` answers with the addresses judged for this attempt. */
  take: (url: URL, lookup: LookupFunction) => Connection;
  close: () => void;
};

type KeepConnectionsOptions = {
  connect: ConnectGuarded;
  /** An unused connection is let go after this long, in milliseconds; a receiver that asks for less gets less. */
  idleMs: number;
  /** Longer heads of answers end the attempt, in bytes. */
  maxHeaderBytes: number;
};

type Kept = Connection & { lookup: LookupFunction; isOpen: () => boolean };

const ignore = (): void => undefined;

/** Keeps connections open between attempts. How many there are at once is the business of whoever limits attempts. */
export const keepConnections = ({ connect, idleMs, maxHeaderBytes }: KeepConnectionsOptions): KeptConnections => {
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
