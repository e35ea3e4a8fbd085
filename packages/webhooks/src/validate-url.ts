import { isIP } from 'node:net';
import { readEndpoint, type UrlRefusal } from './read-endpoint.js';
import { errorCode, isLocalName, type ResolveName } from './resolve-name.js';
import { type Network, validateAddress } from './validate-address.js';

/** A host that may be connected to at any of these addresses (at least one). `resolved`: whether a name was looked up. */
export type ResolvedHost = { ok: true; addresses: string[]; resolved: boolean };

type ResolveHostDeps = { resolve: ResolveName; allowed: readonly Network[] };

/**
 * Looks a URL's host up and refuses it when any of its addresses is not public: one public address among private ones
 * is how a name is made to pass here and connect elsewhere. Never rejects. A name's message keeps the address to
 * itself, or an account could map the operator's internal names.
 */
export const resolveHost =
  ({ resolve, allowed }: ResolveHostDeps) =>
  async (hostname: string): Promise<ResolvedHost | UrlRefusal> => {
    const literal = hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) {
      const reason = validateAddress(literal, allowed);
      if (reason === null) return { ok: true, addresses: [literal], resolved: false };
      return { ok: false, rule: 'address', message: `The address ${literal} ${reason}.` };
    }

    let addresses: string[];
    try {
      addresses = await resolve(hostname);
    } catch (error) {
      return {
        ok: false,
        rule: 'resolution',
        message: `The name ${hostname} does not resolve (${errorCode(error) ?? 'no answer'}).`,
      };
    }
    if (addresses.length === 0) {
      return { ok: false, rule: 'resolution', message: `The name ${hostname} has no address.` };
    }
    for (const address of addresses) {
      const reason = validateAddress(address, allowed);
      if (reason === null) continue;
      return { ok: false, rule: 'address', message: `The name ${hostname} has an address that ${reason}.` };
    }
    return { ok: true, addresses, resolved: true };
  };

type ValidateUrlDeps = {
  resolve: ResolveName;
  allowed: readonly Network[];
  /** How long the name lookup may take, in milliseconds. */
  lookupDeadlineMs?: number;
};

/** An accepted URL as it was given, without outer blanks, or the rule it breaks and a sentence for the user. */
export type UrlValidation = { ok: true; url: string } | UrlRefusal;

/**
 * The one sentence for a name that cannot be used, whether it does not exist, has no address, or has one that is not public: an
 * account could otherwise find out which of the operator's internal names resolve. Literals and `localhost` are told which
 * range they are in, for which nobody's name server is needed.
 */
const unusableName = (hostname: string): UrlRefusal => ({
  ok: false,
  rule: 'resolution',
  message: `The name ${hostname} does not resolve to public addresses alone. Check that it has A or AAAA records and that each of them is a public address.`,
});

const isLiteral = (hostname: string) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

/**
 * Judges an endpoint's URL when it is saved. Never throws and never asks the receiver; the name is looked up, since all
 * of its addresses must be public. The sender judges again at every attempt. Source: contract part 2 §8.
 */
export const validateUrl = async (
  text: string,
  { resolve, allowed, lookupDeadlineMs = 3_000 }: ValidateUrlDeps,
): Promise<UrlValidation> => {
  const read = readEndpoint(text);
  if (!read.ok) return read;

  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<UrlRefusal>((settle) => {
    timer = setTimeout(() => settle(unusableName(read.url.hostname)), lookupDeadlineMs);
  });
  const { hostname } = read.url;
  const judged = await Promise.race([resolveHost({ resolve, allowed })(hostname), late]);
  clearTimeout(timer);
  if (judged.ok) return { ok: true, url: read.given };
  return isLiteral(hostname) || isLocalName(hostname) ? judged : unusableName(hostname);
};
