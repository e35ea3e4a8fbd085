import { randomBytes } from 'node:crypto';
import { createTimestamper } from './create-timestamper.js';
import type { TimestampHash } from './object-identifiers.js';
import { TimestampRefused } from './timestamp.js';

/** What one time-stamp came to. `status` is that of HTTP; null when none came. */
export type AuthorityProbe = { name: 'tsa'; ok: boolean; ms: number; status: number | null; detail: string | null };

type ProbeOptions = {
  url: string;
  trustedRoots: readonly string[] | undefined;
  hash: TimestampHash;
  userAgent: string;
  /** Over the whole query with its answer, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
};

/** Refusals before any HTTP status has come. */
const WITHOUT_STATUS = ['deadline', 'unreachable', 'aborted'];

const statusOf = ({ refusal, message }: TimestampRefused): number | null => {
  if (WITHOUT_STATUS.includes(refusal)) return null;
  return refusal === 'http_status' ? Number(/\d{3}$/.exec(message)?.[0] ?? Number.NaN) || null : 200;
};

/** A probe pins nothing: without roots, any chain that holds is reported as ok. */
const PIN_NOTHING = {
  pin: (_address: string, certificate: string) => Promise.resolve(certificate),
  onOtherRoot: () => undefined,
};

/**
 * Has random data stamped, and the token verified as every other. Rejects when a trusted root is no certificate, or when
 * there is none for an address without TLS.
 */
export const probeAuthority = async (options: ProbeOptions): Promise<AuthorityProbe> => {
  const { url, trustedRoots, hash, userAgent, timeoutMs, now } = options;
  const development = () => Promise.reject(new Error('an authority that has a URL is not the development one'));
  const timestamper = createTimestamper({
    ...{ url, development, now, trustedRoots, hash, userAgent, deadlineMs: timeoutMs },
    pinning: PIN_NOTHING,
  });
  const start = performance.now();
  const result = (ok: boolean, status: number | null, detail: string): AuthorityProbe => {
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
