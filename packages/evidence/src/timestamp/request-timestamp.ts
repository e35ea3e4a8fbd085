import { randomBytes } from 'node:crypto';
import type { SendQuery } from './create-query-sender.js';
import { encodeQuery } from './encode-query.js';
import type { Timestamp } from './timestamp.js';
import { verifyTimestamp } from './verify-timestamp.js';

type RequestTimestampDeps = {
  send: SendQuery;
  now: () => Date;
  /** PEM; see `verifyTimestamp`. */
  trustedRoots?: readonly string[] | undefined;
  acceptedPolicies?: readonly string[] | undefined;
  /** How far the authority's clock may be from ours, in milliseconds. Default five minutes. */
  clockToleranceMs?: number | undefined;
};

/** Asks for a time-stamp of one SHA-256, SHA-384 or SHA-512; the length says which. */
export type RequestTimestamp = (digest: Uint8Array, signal?: AbortSignal) => Promise<Timestamp>;

/** 128 bits that are a positive DER INTEGER of the same length whatever they are. */
const newNonce = (): Buffer => {
  const nonce = randomBytes(16);
  nonce[0] = ((nonce[0] ?? 0) & 0x3f) | 0x40;
  return nonce;
};

/** Asks an authority once and verifies its answer in every respect. Rejects with `TimestampRefused`. */
export const requestTimestamp =
  ({ send, now, trustedRoots, acceptedPolicies, clockToleranceMs = 300_000 }: RequestTimestampDeps): RequestTimestamp =>
  async (digest, signal) => {
    const nonce = newNonce();
    const tokenBytes = await send(encodeQuery({ digest, nonce }), signal);
    const clock = { now: now(), toleranceMs: clockToleranceMs };
    return verifyTimestamp({ tokenBytes, digest, nonce, trustedRoots, acceptedPolicies, clock });
  };
