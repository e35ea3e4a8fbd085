import { createHash, X509Certificate } from 'node:crypto';
import type { Attribute, Certificate } from 'pkijs';
import {
  authorityExtensions,
  type Forgery,
  forgeReply,
  type Holder,
  hold,
  unitExtensions,
} from './forge-reply.fixture.js';
import { requestTimestamp, type Timestamp, type TimestampRefusal, TimestampRefused } from './index.js';
import { replying, startAuthority } from './local-authority.fixture.js';
import { createQuerySender } from './query-sender.js';

/** What is stamped. */
export const DIGEST = createHash('sha256').update('a check').digest();

/** Who signs, and what the token carries besides the unit's own certificate. */
export type Signers = { unit: Holder; chain: Holder[] };
type Terms = { trustedRoots?: string[]; acceptedPolicies?: string[] };
type Ask<T> = (forgery: Forgery, signers?: Signers, terms?: Terms) => Promise<T>;

/** An authority on loopback, with a root, an issuing authority below it that may have none below, and a unit. */
export type Forger = Record<'root' | 'issuing' | 'unit', Holder> & {
  /** Asks it by HTTP for a stamp while it answers with the forgery. */
  ask: Ask<Timestamp>;
  /** The same, for why there is none. */
  refusalOf: Ask<TimestampRefusal | 'none'>;
  /** What it answered last. */
  answered: () => Uint8Array;
  close: () => Promise<void>;
};

/** A certificate as verified time-stamps give it. */
export const pemOf = (certificate: Certificate): string =>
  new X509Certificate(new Uint8Array(certificate.toSchema(true).toBER())).toString();

/** All signed attributes but that one. */
export const without =
  (type: string) =>
  (honest: Attribute[]): Attribute[] =>
    honest.filter((attribute) => attribute.type !== type);

/** Makes the three certificates and starts the server. */
export const openForger = async (): Promise<Forger> => {
  const root = await hold({ subject: 'Test root', issuer: null, extensions: authorityExtensions() });
  const issuing = await hold({ subject: 'Test issuing', issuer: root, extensions: authorityExtensions(0) });
  const unit = await hold({ subject: 'Test unit', issuer: issuing, extensions: unitExtensions() });
  let reply: (query: Uint8Array) => Promise<Uint8Array>;
  let answered: Uint8Array = new Uint8Array();
  const server = await startAuthority(
    replying(async (query) => {
      answered = await reply(query);
      return answered;
    }),
  );
  const ask: Forger['ask'] = async (forgery, signers = { unit, chain: [issuing, root] }, terms = {}) => {
    reply = (query) => forgeReply(query, signers.unit, signers.chain, forgery);
    const { send, close } = createQuerySender({ url: server.url, deadlineMs: 10_000 });
    try {
      return await requestTimestamp({ send, now: () => new Date(), ...terms })(DIGEST);
    } finally {
      close();
    }
  };
  const refusalOf: Forger['refusalOf'] = async (...asked) => {
    try {
      await ask(...asked);
      return 'none';
    } catch (error) {
      if (error instanceof TimestampRefused) return error.refusal;
      throw error;
    }
  };
  return { root, issuing, unit, ask, refusalOf, answered: () => answered, close: server.close };
};
