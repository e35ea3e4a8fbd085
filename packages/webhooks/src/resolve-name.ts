import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/** The `code` of an error from Node or a library, e.g. ENOTFOUND; null when it has none. */
export const errorCode = (error: unknown): string | null => {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
};

/**
 * Resolves a name to all its IPv4 and IPv6 addresses. Rejects with a code of `node:dns` when there is none or no
 * answer.
 */
export type ResolveName = (name: string) => Promise<string[]>;

/** A resolver; `close` cancels its open queries. */
export type NameResolver = { resolve: ResolveName; close: () => void };

type NameResolverOptions = {
  /** DNS servers (`ip` or `ip:port`); those of the system by default. */
  servers?: readonly string[];
};

/** With two tries a query ends by itself after about three seconds, so that abandoned queries do not accumulate. */
const TRY_MS = 1_000;
const TRIES = 2;

/** `localhost` and names below it, which are 127.0.0.1 everywhere (RFC 6761 §6.3). */
export const isLocalName = (name: string): boolean => /(^|\.)localhost$/i.test(name);

const isNoAddress = (failure: unknown) => ['ENODATA', 'ENOTFOUND'].includes(errorCode(failure) ?? '');

/**
 * Resolves names over DNS rather than with the system's `getaddrinfo`, which occupies one of libuv's few threads until
 * the name server answers: a hostile one would block other name resolution and file access of the process. Nothing is
 * cached. `localhost` and names below it resolve to 127.0.0.1 without a query.
 */
export const createNameResolver = ({ servers }: NameResolverOptions = {}): NameResolver => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);

  const resolve: ResolveName = async (name) => {
    if (isLocalName(name)) return ['127.0.0.1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;

    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    throw failures.find((failure) => !isNoAddress(failure)) ?? failures[0] ?? new Error('no address');
  };
  return { resolve, close: () => resolver.cancel() };
};

/** At most this many addresses are tried, so that a name with hundreds cannot turn the sender into a port scanner. */
const MAX_TRIED = 4;

/** A lookup that returns addresses that are already validated, without a DNS query. At least one must be given. */
export const checkedLookup = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.slice(0, MAX_TRIED).map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (!first) return callback(new Error('no address'), '', 0);
    if (options.all) return callback(null, found);
    callback(null, first.address, first.family);
  };
};
