import { createCircuit } from './create-circuit.js';
import type { DevelopmentAuthority } from './create-development-authority.js';
import { createQuerySender, type QuerySender } from './create-query-sender.js';
import { readTrustedRoots } from './read-trusted-roots.js';
import { type RequestTimestamp, requestTimestamp } from './request-timestamp.js';

type TimestamperOptions = {
  /** TSA_URL; null leaves it to the development authority. */
  url: string | null;
  /** Called once, at the first stamp, and only where there is no `url`. */
  development: () => Promise<DevelopmentAuthority>;
  now: () => Date;
  /** PEM; the authority's certificate has to lead to one of them. Default: its own chain has to hold. */
  trustedRoots?: readonly string[] | undefined;
  /** Sent with every query to `url`. */
  userAgent?: string | undefined;
  /** One query with its answer, in milliseconds. Default ten seconds. */
  deadlineMs?: number;
  /** After `failures` in a row nothing is asked for `restMs`. Default five, one minute. */
  circuit?: { failures: number; restMs: number };
};

/** What stamps checks and anchors. `stamp` rejects with `TimestampRefused`; `close` ends what is in flight. */
export type Timestamper = { stamp: RequestTimestamp; close: () => void };

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
 * verified alike. When to try again is `TIMESTAMP_RETRY_DELAYS_MS`. Throws when a trusted root is no certificate.
 */
export const createTimestamper = ({
  url,
  development,
  now,
  trustedRoots,
  userAgent,
  deadlineMs = 10_000,
  circuit: { failures, restMs } = { failures: 5, restMs: 60_000 },
}: TimestamperOptions): Timestamper => {
  // Now and not at the first stamp, when nobody reads the log of the start any more.
  if (url !== null) readTrustedRoots(trustedRoots ?? []);
  const { send, close } = url === null ? inProcess(development) : createQuerySender({ url, deadlineMs, userAgent });
  // The development authority has a root of its own, which nobody sets.
  const request = requestTimestamp({ send, now, trustedRoots: url === null ? [] : trustedRoots });
  const circuit = createCircuit({ failures, restMs, now });
  return { stamp: (digest, signal) => circuit(() => request(digest, signal)), close };
};
