import { createHash } from 'node:crypto';
import { createCircuit } from './create-circuit.js';
import type { DevelopmentAuthority } from './create-development-authority.js';
import { createQuerySender, type QuerySender } from './create-query-sender.js';
import type { TimestampHash } from './object-identifiers.js';
import { type OtherRoot, pinnedAddress, pinRoot, type RootPin } from './pin-root.js';
import { readTrustedRoots } from './read-trusted-roots.js';
import { type RequestTimestamp, requestTimestamp } from './request-timestamp.js';
import type { Timestamp } from './timestamp.js';

type TimestamperOptions = {
  /** TSA_URL; null leaves it to the development authority. */
  url: string | null;
  /** Called once, at the first stamp, and only where there is no `url`. */
  development: () => Promise<DevelopmentAuthority>;
  now: () => Date;
  /** TSA_HASH: the hash function of what is stamped. Default SHA-256. */
  hash?: TimestampHash;
  /** PEM; the authority's certificate has to lead to one of them. Default: to the root that its first answer led to. */
  trustedRoots?: readonly string[] | undefined;
  /** Sent with every query to `url`. */
  userAgent?: string | undefined;
  /** Used for an https `url` where there are no `trustedRoots`. */
  pinning?: {
    /** {@link RootPin} of the authority at an address. */
    pin: (address: string, certificate: string, now: Date) => ReturnType<RootPin>;
    onOtherRoot: (roots: OtherRoot & { tsa_url: string }) => void;
  };
  /** One query with its answer, in milliseconds. Default ten seconds. */
  deadlineMs?: number;
  /** After `failures` in a row nothing is asked for `restMs`. Default five, one minute. */
  circuit?: { failures: number; restMs: number };
};

/** What stamps checks, anchors and dossiers. */
export type Timestamper = {
  /** Has the hash of `data` stamped. Rejects with `TimestampRefused`. */
  stamp: (data: Uint8Array, signal?: AbortSignal) => Promise<Timestamp>;
  /** Ends what is in flight. */
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
 * Stamps through the authority at `url`, or through the project's own where there is none; the answers of both are
 * verified alike. When to try again is `TIMESTAMP_RETRY_DELAYS_MS`. Throws when a trusted root is no certificate, and when
 * there is none for an address without TLS: whoever is on the way could answer in the authority's name, and be pinned.
 */
export const createTimestamper = ({
  url,
  development,
  now,
  hash = 'sha256',
  trustedRoots,
  userAgent,
  pinning,
  deadlineMs = 10_000,
  circuit: { failures, restMs } = { failures: 5, restMs: 60_000 },
}: TimestamperOptions): Timestamper => {
  // Now and not at the first stamp, when nobody reads the log of the start any more.
  if (url !== null) readTrustedRoots(trustedRoots ?? []);
  const address = url === null || trustedRoots?.length ? null : pinnedAddress(url);
  const { send, close } = url === null ? inProcess(development) : createQuerySender({ url, deadlineMs, userAgent });
  const pinned = (of: string, request: RequestTimestamp) => {
    if (!pinning) throw new Error('certificates are required');
    const { pin, onOtherRoot } = pinning;
    return pinRoot({
      request,
      pin: (certificate) => pin(of, certificate, now()),
      onOtherRoot: (roots) => onOtherRoot({ tsa_url: of, ...roots }),
    });
  };
  // The development authority has a root of its own, which nobody sets.
  const request = requestTimestamp({ send, now, trustedRoots: url === null ? [] : trustedRoots });
  const guarded = address === null ? request : pinned(address, request);
  const circuit = createCircuit({ failures, restMs, now });
  return {
    stamp: (data, signal) => circuit(() => guarded(createHash(hash).update(data).digest(), signal)),
    close,
  };
};
