import { createHash } from 'node:crypto';
import type { Attribute } from 'pkijs';
import { requestTimestamp } from './create-timestamper.js';
import { type Forgery, forgeReply, issueHolder } from './forge-reply.fixture.js';
import { authorityExtensions, type Holder, unitExtensions } from './issue-certificate.js';
import { replying, startAuthority } from './local-authority.fixture.js';
import { createQuerySender } from './query-sender.js';
import { type Timestamp, type TimestampRefusal, TimestampRefused } from './timestamp.js';

export const DIGEST = createHash('sha256').update('a check').digest();

/** The signer, and the other certificates in the token. */
export type Signers = { unit: Holder; chain: Holder[] };
type Terms = { trustedRoots?: string[] };
type RequestForgery<T> = (forgery: Forgery, signers?: Signers, terms?: Terms) => Promise<T>;

/** An authority on loopback with a root, an issuing authority (path length 0) and a unit. */
export type Forger = Record<'root' | 'issuing' | 'unit', Holder> & {
  /** Requests a stamp by HTTP; the authority answers with the forgery. */
  request: RequestForgery<Timestamp>;
  /** The same, but resolves to the reason of the refusal. */
  refusalOf: RequestForgery<TimestampRefusal | 'none'>;
  lastReply: () => Uint8Array;
  close: () => Promise<void>;
};

export const without =
  (type: string) =>
  (honest: Attribute[]): Attribute[] =>
    honest.filter((attribute) => attribute.type !== type);

/** Makes the three certificates and starts the server. */
export const openForger = async (): Promise<Forger> => {
  const root = issueHolder({ subject: 'Test root', issuer: null, extensions: authorityExtensions() });
  const issuing = issueHolder({ subject: 'Test issuing', issuer: root, extensions: authorityExtensions(0) });
  const unit = issueHolder({ subject: 'Test unit', issuer: issuing, extensions: unitExtensions() });
  let reply: (query: Uint8Array) => Promise<Uint8Array>;
  let lastReply: Uint8Array = new Uint8Array();
  const server = await startAuthority(
    replying(async (query) => {
      lastReply = await reply(query);
      return lastReply;
    }),
  );
  const request: Forger['request'] = async (forgery, signers = { unit, chain: [issuing, root] }, terms = {}) => {
    reply = async (query) => forgeReply(query, signers.unit, signers.chain, forgery);
    const { send, close } = createQuerySender({ url: server.url, deadlineMs: 10_000, now: () => new Date() });
    try {
      return await requestTimestamp({ send, now: () => new Date(), ...terms })(DIGEST);
    } finally {
      close();
    }
  };
  const refusalOf: Forger['refusalOf'] = async (...args) => {
    try {
      await request(...args);
      return 'none';
    } catch (error) {
      if (error instanceof TimestampRefused) return error.refusal;
      throw error;
    }
  };
  return { root, issuing, unit, request, refusalOf, lastReply: () => lastReply, close: server.close };
};
