import { randomBytes } from 'node:crypto';
import type { Probe } from '@vat/outgoing';
import { createTimestamper } from './create-timestamper.js';
import type { TimestampHash } from './object-identifiers.js';
import { TimestampRefused } from './timestamp.js';

type ProbeOptions = {
  url: string;
  trustedRoots: readonly string[] | undefined;
  hash: TimestampHash;
  userAgent: string;
  proxyUrl?: string | undefined;
  /** Deadline of the query with its response, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
};

/** Refusals without an HTTP status. */
const WITHOUT_STATUS = ['deadline', 'unreachable', 'aborted'];

const statusOf = ({ refusal, message }: TimestampRefused): number | null => {
  if (WITHOUT_STATUS.includes(refusal)) return null;
  return refusal === 'http_status' ? Number(/\d{3}$/.exec(message)?.[0] ?? Number.NaN) || null : 200;
};

/** A probe pins no root: without trusted roots, any valid chain is reported as ok. */
const PIN_NOTHING = {
  pin: (_address: string, certificate: string) => Promise.resolve(certificate),
  onOtherRoot: () => undefined,
};

/**
 * Requests a time-stamp of random data and verifies the token as usual. Rejects if a trusted root is not a certificate, or
 * if there is none for an address without TLS.
 */
export const probeAuthority = async (options: ProbeOptions): Promise<Probe> => {
  const { url, trustedRoots, hash, userAgent, proxyUrl, timeoutMs, now } = options;
  const development = () => Promise.reject(new Error('an authority with a URL is not the development authority'));
  const timestamper = createTimestamper({
    ...{ url, development, now, trustedRoots, hash, userAgent, proxyUrl, deadlineMs: timeoutMs },
    pinning: PIN_NOTHING,
  });
  const start = performance.now();
  const result = (ok: boolean, status: number | null, detail: string): Probe => {
    return { name: 'tsa', ok, ms: Math.round(performance.now() - start), status, detail };
  };
  try {
    const { authority } = await timestamper.stamp(randomBytes(32));
    return result(true, 200, `stamped by ${authority}`);
  } catch (error) {
    if (error instanceof TimestampRefused) return result(false, statusOf(error), `${error.refusal}: ${error.message}`);
    return result(false, null, error instanceof Error ? error.name : 'unknown');
  } finally {
    timestamper.close();
  }
};
