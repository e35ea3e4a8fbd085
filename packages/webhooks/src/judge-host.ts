import { isIP } from 'node:net';
import type { ResolveName } from './create-name-resolver.js';
import { errorCode } from './error-code.js';
import { judgeAddress } from './judge-address.js';
import type { Network } from './parse-networks.js';
import type { UrlRefusal } from './read-endpoint.js';

/** A host that may be connected to at any of these addresses (at least one). `resolved`: whether a name was looked up. */
export type JudgedHost = { ok: true; addresses: string[]; resolved: boolean };

type JudgeHostDeps = { resolve: ResolveName; allowed: readonly Network[] };

/**
 * Looks a URL's host up and refuses it when any of its addresses is not public: one public address among private ones
 * is how a name is made to pass here and connect elsewhere. Never rejects. A name's message keeps the address to
 * itself, or an account could map the operator's internal names.
 */
export const judgeHost =
  ({ resolve, allowed }: JudgeHostDeps) =>
  async (hostname: string): Promise<JudgedHost | UrlRefusal> => {
    const literal = hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) {
      const reason = judgeAddress(literal, allowed);
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
      const reason = judgeAddress(address, allowed);
      if (reason === null) continue;
      return { ok: false, rule: 'address', message: `The name ${hostname} has an address that ${reason}.` };
    }
    return { ok: true, addresses, resolved: true };
  };
