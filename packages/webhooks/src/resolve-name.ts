import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/** The `code` of an error of Node or a library, e.g. ENOTFOUND; null when it has none. */
export const errorCode = (error: unknown): string | null => {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
};

/** All IPv4 and IPv6 addresses of a name; rejects with a code of `node:dns` when there is none or no answer. */
export type ResolveName = (name: string) => Promise<string[]>;

/** A resolver; `close` gives up what it still asks. */
export type NameResolver = { resolve: ResolveName; close: () => void };

type NameResolverOptions = {
  /** DNS servers (`ip` or `ip:port`); those of the system when left out. */
  servers?: readonly string[];
};

/** With two tries a lookup ends by itself after about three seconds, so that given-up ones do not pile up. */
const TRY_MS = 1_000;
const TRIES = 2;

/** `localhost` and names below it, which are 127.0.0.1 everywhere (RFC 6761 §6.3). */
export const isLocalName = (name: string): boolean => /(^|\.)localhost$/i.test(name);

const isNothingThere = (failure: unknown) => ['ENODATA', 'ENOTFOUND'].includes(errorCode(failure) ?? '');

/**
 * Looks names up with DNS itself rather than the system's `getaddrinfo`: that one occupies one of libuv's few threads
 * as long as a hostile name server likes, which would hold up every other lookup and file of the process. Nothing is
 * kept between calls. `localhost` and names below it are 127.0.0.1 without lookingUp (RFC 6761 §6.3).
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
    throw failures.find((failure) => !isNothingThere(failure)) ?? failures[0] ?? new Error('no address');
  };
  return { resolve, close: () => resolver.cancel() };
};

/** So many addresses are tried at most: a name with hundreds must not make a scanner of the sender. */
const MAX_TRIED = 4;

/** A lookup that asks nobody and answers with addresses already judged. At least one must be given. */
export const checkedLookup = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.slice(0, MAX_TRIED).map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (!first) return callback(new Error('no address'), '', 0);
    if (options.all) return callback(null, found);
    callback(null, first.address, first.family);
  };
};
