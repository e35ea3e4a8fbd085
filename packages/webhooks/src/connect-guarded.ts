import { once } from 'node:events';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';
import { judgeAddress } from './judge-address.js';
import type { Network } from './parse-networks.js';

/** Where to: `host` a name or a literal without brackets; a name must bring its `lookup`. */
export type GuardedTarget = { host: string; port: number; lookup?: LookupFunction };

/** Begins a TLS connection. Throws an error of the code ERR_ADDRESS_REFUSED, or the socket is destroyed with one. */
export type ConnectGuarded = (target: GuardedTarget) => TLSSocket;

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
        const reason = judgeAddress(address, allowed);
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
    const reason = literal ? judgeAddress(host, allowed) : null;
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
