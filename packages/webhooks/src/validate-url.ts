import { isIP } from 'node:net';
import { readEndpoint, type UrlRefusal } from './read-endpoint.js';
import { errorCode, isLocalName, type ResolveName } from './resolve-name.js';
import { type Network, validateAddress } from './validate-address.js';

/** A host with its permitted addresses (at least one). `resolved`: whether the addresses come from DNS. */
type ResolvedHost = { ok: true; addresses: string[]; resolved: boolean };

type ResolveHostDeps = { resolve: ResolveName; allowed: readonly Network[] };

/**
 * Resolves a URL's host and refuses it when any of its addresses is not public: a name with one public and one private
 * address could otherwise pass and then connect to the private one. Never rejects. The message for a name does not
 * contain the address, or an account could map the operator's internal names.
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
  /** The longest time for name resolution, in milliseconds. */
  lookupDeadlineMs?: number;
};

/** An accepted URL as given, without outer blanks, or the rule that it breaks and a sentence for the user. */
export type UrlValidation = { ok: true; url: string } | UrlRefusal;

/**
 * The refusal of a name that does not exist, has no address, or has one that is not public. All three have the same
 * message; otherwise an account could find out which of the operator's internal names resolve. The message for literals
 * and `localhost` names the address range, because no name server is involved.
 */
const unusableName = (hostname: string): UrlRefusal => ({
  ok: false,
  rule: 'resolution',
  message: `The name ${hostname} does not resolve to public addresses alone. Check that it has A or AAAA records and that each of them is a public address.`,
});

const isLiteral = (hostname: string) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

/**
 * Validates an endpoint's URL when it is saved. Never throws and never contacts the receiver; the name is resolved, since
 * all of its addresses must be public. The sender validates the URL again at every attempt.
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
  const host = await Promise.race([resolveHost({ resolve, allowed })(hostname), late]);
  clearTimeout(timer);
  if (host.ok) return { ok: true, url: read.given };
  return isLiteral(hostname) || isLocalName(hostname) ? host : unusableName(hostname);
};
