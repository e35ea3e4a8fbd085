import { createSecureContext, rootCertificates } from 'node:tls';
import { connectGuarded, createConnectionPool } from './connections.js';
import type { AttemptResult } from './post-attempt.js';
import { type AttemptStop, createAttemptStop, type Posted, postAttempt } from './post-attempt.js';
import { readEndpoint, type UrlRefusal } from './read-endpoint.js';
import { checkedLookup, createNameResolver } from './resolve-name.js';
import type { Network } from './validate-address.js';
import { resolveHost } from './validate-url.js';

type WebhookSenderOptions = {
  /** One deadline over name lookup, connecting, TLS, headers and body, in milliseconds. Setting WEBHOOK_TIMEOUT. */
  timeoutMs: number;
  /** Networks exempt from the public-address rule. Setting WEBHOOK_ALLOWED_NETWORKS. */
  allowed: readonly Network[];
  /** DNS servers (`ip:port`); those of the system when left out. */
  resolver?: readonly string[];
  /** Certificates (PEM) trusted beside Node's own roots. Without it Node's defaults hold, with NODE_EXTRA_CA_CERTS. */
  ca?: readonly string[];
  /** So much of the answer's body is kept. */
  maxAnswerBytes?: number;
  /** An unused connection is let go after this long, in milliseconds. */
  idleConnectionMs?: number;
  now?: () => Date;
};

/** One attempt: `body` is sent byte for byte as UTF-8, `headers` as `signDelivery` makes them. */
export type WebhookAttempt = { url: string; headers: Record<string, string>; body: string; signal?: AbortSignal };

/** Sends attempts; `close` ends those in flight (as ABORTED), the kept connections and the lookups. */
export type WebhookSender = {
  send: (attempt: WebhookAttempt) => Promise<AttemptResult>;
  close: () => Promise<void>;
};

const MAX_HEADER_BYTES = 16 * 1024;

const unsent = (error: string): Posted => ({
  statusCode: null,
  error,
  address: null,
  tcpMs: null,
  tlsMs: null,
  firstByteMs: null,
  answer: Buffer.alloc(0),
  answerTruncated: false,
});

const refused = ({ rule, message }: UrlRefusal): Posted =>
  unsent(rule === 'resolution' ? `DNS: ${message}` : `ADDRESS_REFUSED: ${rule}: ${message}`);

/**
 * The only way out for webhooks. `send` never rejects and settles by the deadline. The URL is judged at every attempt,
 * also when a connection to it is kept, and the connection goes to the addresses that were judged. HTTP/1.1, no
 * redirects, no decompression, no proxy variables (connections are our own), nothing is sent twice.
 * Source: contract part 1 §4 rule 2 and §8, part 2 §8.
 */
export const createWebhookSender = ({
  timeoutMs,
  allowed,
  resolver: servers,
  ca,
  maxAnswerBytes = 2_048,
  // Below the five seconds after which common servers drop an idle connection: what is sent into one that is just
  // closing is lost, and costs the receiver a retry's delay.
  idleConnectionMs = 4_000,
  now = () => new Date(),
}: WebhookSenderOptions): WebhookSender => {
  const resolver = createNameResolver(servers ? { servers } : {});
  const judge = resolveHost({ resolve: resolver.resolve, allowed });
  // Made once: reading some 140 roots again for each connection costs more than the handshake.
  const secureContext = createSecureContext(ca ? { ca: [...rootCertificates, ...ca] } : {});
  const connections = createConnectionPool({
    connect: connectGuarded(allowed, secureContext),
    idleMs: idleConnectionMs,
    maxHeaderBytes: MAX_HEADER_BYTES,
  });
  const post = postAttempt({ connections, maxAnswerBytes });
  const inFlight = new Map<AttemptStop, Promise<unknown>>();
  let closed = false;

  const validateAndPost = async (
    attempt: WebhookAttempt,
    stop: AttemptStop,
  ): Promise<Posted & { dnsMs: number | null }> => {
    const read = readEndpoint(attempt.url);
    if (!read.ok) return { ...refused(read), dnsMs: null };

    const start = performance.now();
    const stopped = new Promise<string>((resolve) => stop.onStop(resolve));
    const host = await Promise.race([judge(read.url.hostname), stopped]);
    if (typeof host === 'string') return { ...unsent(`${host} (while resolving the name)`), dnsMs: null };
    if (!host.ok) return { ...refused(host), dnsMs: host.rule === 'resolution' ? elapsed(start) : null };

    const { url } = read;
    const { headers, body } = attempt;
    const dnsMs = host.resolved ? elapsed(start) : null;
    const posted = await post({ url, lookup: checkedLookup(host.addresses), headers, body, stop });
    return { ...posted, address: posted.address ?? host.addresses[0] ?? null, dnsMs };
  };

  const send = async (attempt: WebhookAttempt): Promise<AttemptResult> => {
    const at = now();
    const start = performance.now();
    const stop = createAttemptStop();
    const onSignal = () => stop.stop('ABORTED: the attempt was called off');
    const timer = setTimeout(() => stop.stop(`TIMEOUT: no complete answer within ${timeoutMs} ms`), timeoutMs);
    attempt.signal?.addEventListener('abort', onSignal);

    const called = closed || attempt.signal?.aborted;
    const working = called
      ? Promise.resolve({ ...unsent('ABORTED: the attempt was called off'), dnsMs: null })
      : validateAndPost(attempt, stop);
    inFlight.set(stop, working);
    const { dnsMs, tcpMs, tlsMs, firstByteMs, ...posted } = await working;
    inFlight.delete(stop);
    clearTimeout(timer);
    attempt.signal?.removeEventListener('abort', onSignal);
    const totalMs = elapsed(start);
    return { at, ...posted, durationMs: totalMs, timings: { dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } };
  };

  const close = async () => {
    closed = true;
    for (const { stop } of inFlight.keys()) stop('ABORTED: the sender is closing');
    await Promise.all(inFlight.values());
    connections.close();
    resolver.close();
  };
  return { send, close };
};

const elapsed = (since: number) => Math.round(performance.now() - since);
