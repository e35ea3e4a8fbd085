import type { LookupAddress } from 'node:dns';
import { Agent, type AgentOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { judgeAddress } from './judge-address.js';
import type { Network } from './parse-networks.js';

type ConnectArguments = Parameters<Agent['createConnection']>;

/** What the connector fails with when it is about to connect to a forbidden address. */
const refusal = (address: string, reason: string) =>
  Object.assign(new Error(`The address ${address} ${reason}.`), { code: 'ERR_ADDRESS_REFUSED' });

/** Lookups that fail instead of handing a forbidden address to the connector. */
const guard =
  (lookup: LookupFunction, allowed: readonly Network[]): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      const addresses: LookupAddress[] = typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found;
      for (const { address } of addresses) {
        const reason = judgeAddress(address, allowed);
        if (reason !== null) return callback(refusal(address, reason), found, family);
      }
      callback(null, found, family);
    });

/**
 * A keep-alive agent that opens no connection to a forbidden address, whoever uses it: it judges what the socket is
 * about to connect to, and literals, for which Node asks no lookup. A request must bring its own `lookup`.
 */
export class GuardedAgent extends Agent {
  readonly #allowed: readonly Network[];

  constructor(allowed: readonly Network[], options: AgentOptions) {
    super(options);
    this.#allowed = allowed;
  }

  override createConnection(...[options, callback]: ConnectArguments): ReturnType<Agent['createConnection']> {
    const { host, lookup } = options;
    const fail = (error: Error) => {
      callback?.(error, undefined as never); // with an error there is no socket, whatever the type says
      return undefined;
    };
    if (isIP(host ?? '') !== 0) {
      const reason = judgeAddress(host ?? '', this.#allowed);
      return reason === null ? super.createConnection(options, callback) : fail(refusal(host ?? '', reason));
    }
    if (!lookup) return fail(refusal(host ?? '', 'was never looked up'));
    return super.createConnection({ ...options, lookup: guard(lookup, this.#allowed) }, callback);
  }
}
