import { createHash, X509Certificate } from 'node:crypto';
import type { MakeStampDeps, StampData } from '@vat/domain';
import { createCircuit } from '@vat/outgoing';
import { readTrustedRoots } from './certificates.js';
import type { DevelopmentAuthority } from './development-authority.js';
import { newSerial, type TimestampHash } from './object-identifiers.js';
import { createQuerySender, type QuerySender, type SendQuery } from './query-sender.js';
import { type Timestamp, TimestampRefused } from './timestamp.js';
import { encodeQuery } from './timestamp-messages.js';
import { verifyTimestamp } from './verify-timestamp.js';

type RequestTimestampDeps = {
  send: SendQuery;
  now: () => Date;
  /** PEM; see `verifyTimestamp`. */
  trustedRoots?: readonly string[] | undefined;
};

/** Requests a time-stamp of one SHA-256, SHA-384 or SHA-512 digest; its length determines the function. */
type RequestTimestamp = (digest: Uint8Array, signal?: AbortSignal) => Promise<Timestamp>;

/** Sends one request to an authority and verifies the response completely. Rejects with `TimestampRefused`. */
export const requestTimestamp =
  ({ send, now, trustedRoots }: RequestTimestampDeps): RequestTimestamp =>
  async (digest, signal) => {
    const nonce = newSerial();
    const tokenBytes = await send(encodeQuery({ digest, nonce }), signal);
    return verifyTimestamp({ tokenBytes, digest, nonce, trustedRoots, now: now() });
  };

/**
 * Stores the topmost certificate (PEM) of an authority unless one is stored already, and resolves to the stored one. If
 * several processes store one at the same time, the first one wins.
 */
type RootPin = (certificate: string) => Promise<string>;

/** The pinned root and the different root that a response led to. SHA-256 of the DER form, in lower-case hex. */
export type OtherRoot = { pinned: string; shown: string };

type PinRootDeps = {
  /** Verifies that the authority's own chain holds. */
  request: RequestTimestamp;
  pin: RootPin;
  onOtherRoot: (roots: OtherRoot) => void;
};

/**
 * An authority's address as it is stored with a pinned root: without user, password and query, which may be secret. Throws
 * for an address without TLS, because an attacker on the network could answer first and be pinned.
 */
const pinnedAddress = (url: string): string => {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'https:') throw new Error('certificates are required, because TSA_URL is not an https address');
  return origin + pathname;
};

/** The SHA-256 of a certificate's DER form, in lower-case hex: the fingerprint that authorities publish. */
export const fingerprintOf = (pem: string): string =>
  new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();

/**
 * Trusts the root that an authority's first response leads to, and no other root afterwards. Without this and without roots
 * from the operator, anybody who can redirect the address could stamp in the authority's name. A token that leads to another
 * root is refused (`other_root`). The pinned certificate is the topmost one in the response, so it may be an intermediate.
 */
export const pinRoot =
  ({ request, pin, onOtherRoot }: PinRootDeps): RequestTimestamp =>
  async (digest, signal) => {
    const stamp = await request(digest, signal);
    const shown = stamp.certificates.at(-1) ?? '';
    const pinned = await pin(shown);
    if (pinned === shown) return stamp;
    try {
      return verifyTimestamp({ tokenBytes: stamp.tokenBytes, digest, trustedRoots: [pinned] });
    } catch (error) {
      if (!(error instanceof TimestampRefused && error.refusal === 'wrong_chain')) throw error;
      const roots = { pinned: fingerprintOf(pinned), shown: fingerprintOf(shown) };
      onOtherRoot(roots);
      throw new TimestampRefused(
        'other_root',
        `the authority's certificates lead to ${roots.shown}, and the pinned root is ${roots.pinned}`,
      );
    }
  };

type TimestamperOptions = {
  /** TSA_URL; null means the development authority. */
  url: string | null;
  /** Called once, at the first stamp, and only if `url` is null. */
  development: () => Promise<DevelopmentAuthority>;
  now: () => Date;
  /** TSA_HASH: the hash function of the stamped digest. Default SHA-256. */
  hash?: TimestampHash;
  /** PEM; the authority's certificate must lead to one of them. Default: the root that its first response led to. */
  trustedRoots?: readonly string[] | undefined;
  /** Sent with every query to `url`. */
  userAgent?: string | undefined;
  proxyUrl?: string | undefined;
  /** Used for an https `url` if there are no `trustedRoots`. */
  pinning?: {
    /** {@link RootPin} of the authority at an address. */
    pin: (address: string, certificate: string, now: Date) => ReturnType<RootPin>;
    onOtherRoot: (roots: OtherRoot & { tsa_url: string }) => void;
  };
  /** Deadline of one query with its response, in milliseconds. Default ten seconds. */
  deadlineMs?: number;
  /** After `failures` consecutive failures no query is sent for a minute. Default five. */
  failures?: number;
};

/** Gets time-stamps of checks, anchors and dossiers. */
export type Timestamper = {
  /** Gets a time-stamp of the hash of `data`. Rejects with `TimestampRefused`. */
  stamp: (data: Uint8Array, signal?: AbortSignal) => Promise<Timestamp>;
  /** Aborts the queries in flight. */
  close: () => void;
};

const inProcess = (open: () => Promise<DevelopmentAuthority>): QuerySender => {
  let authority: Promise<DevelopmentAuthority> | null = null;
  const opened = () => {
    authority ??= open().catch((error: unknown) => {
      authority = null; // the next stamp tries again
      throw error;
    });
    return authority;
  };
  return { send: async (query) => (await opened()).reply(query), close: () => undefined };
};

/**
 * Gets time-stamps from the authority at `url`, or from the development authority if there is none; the responses of both
 * are verified in the same way. Throws if a trusted root is not a certificate, or if there is no trusted root for an address without TLS: an attacker on the network could answer and be pinned.
 */
export const createTimestamper = ({
  url,
  development,
  now,
  hash = 'sha256',
  trustedRoots,
  userAgent,
  proxyUrl,
  pinning,
  deadlineMs = 10_000,
  failures,
}: TimestamperOptions): Timestamper => {
  // Checked here so that a wrong root fails the start of the process and not the first time-stamp.
  if (url !== null) readTrustedRoots(trustedRoots ?? []);
  const address = url === null || trustedRoots?.length ? null : pinnedAddress(url);
  const { send, close } =
    url === null ? inProcess(development) : createQuerySender({ url, deadlineMs, userAgent, proxyUrl, now });
  const pinned = (address: string, request: RequestTimestamp) => {
    if (!pinning) throw new Error('certificates are required');
    const { pin, onOtherRoot } = pinning;
    return pinRoot({
      request,
      pin: (certificate) => pin(address, certificate, now()),
      onOtherRoot: (roots) => onOtherRoot({ tsa_url: address, ...roots }),
    });
  };
  // The development authority has its own root, which is not configured.
  const request = requestTimestamp({ send, now, trustedRoots: url === null ? [] : trustedRoots });
  const guarded = address === null ? request : pinned(address, request);
  const circuit = createCircuit({ now, failures });
  return {
    stamp: async (data, signal) => {
      const refusal = circuit.refusal();
      if (refusal !== null) throw new TimestampRefused('circuit_open', `the authority is ${refusal}`);
      try {
        const stamp = await guarded(createHash(hash).update(data).digest(), signal);
        circuit.answered();
        return stamp;
      } catch (error) {
        if (error instanceof TimestampRefused && error.refusal === 'aborted') circuit.aborted();
        else circuit.failed();
        throw error;
      }
    },
    close,
  };
};

/** Adapts a timestamper to the ports of the domain: stamping data, and reading the reason of a rejection. */
export const domainStamper = ({ stamp }: Pick<Timestamper, 'stamp'>): Pick<MakeStampDeps, 'stamp' | 'reasonOf'> => {
  const stampData: StampData = async (data, signal) => {
    const { tokenBytes, certificates: _inToken, validUntil: _inCertificates, ...facts } = await stamp(data, signal);
    return { token: tokenBytes, ...facts };
  };
  return {
    stamp: stampData,
    reasonOf: (error) =>
      error instanceof TimestampRefused
        ? { error: `${error.refusal}: ${error.message}`, called: error.refusal !== 'circuit_open' }
        : null,
  };
};
