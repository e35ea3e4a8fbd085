import { createSecureContext, rootCertificates } from 'node:tls';
import { connectGuarded, createConnectionPool } from './connections.js';
import { type AttemptResult, type AttemptStop, createAttemptStop, type Posted, postAttempt } from './post-attempt.js';
import { readEndpoint, type UrlRefusal } from './read-endpoint.js';
import { checkedLookup, createNameResolver } from './resolve-name.js';
import type { Network } from './validate-address.js';
import { resolveHost } from './validate-url.js';

type WebhookSenderOptions = {
  /** One deadline for name resolution, connection, TLS, headers and body, in milliseconds. Setting WEBHOOK_TIMEOUT. */
  timeoutMs: number;
  /** Networks exempt from the public-address rule. Setting WEBHOOK_ALLOWED_NETWORKS. */
  allowed: readonly Network[];
  /** DNS servers (`ip:port`); those of the system by default. */
  resolver?: readonly string[];
  /**
   * Certificates (PEM) trusted in addition to Node's own roots. Without it Node's defaults apply, with
   * NODE_EXTRA_CA_CERTS.
   */
  ca?: readonly string[];
  /** At most this many bytes of the answer's body are stored. */
  maxAnswerBytes?: number;
  /** Milliseconds after which an unused connection is closed. */
  idleConnectionMs?: number;
  now?: () => Date;
};

/** One attempt: `body` is sent unchanged as UTF-8, `headers` come from `signDelivery`. */
type WebhookAttempt = { url: string; headers: Record<string, string>; body: string; signal?: AbortSignal };

/** Sends attempts. `close` aborts those in flight (as ABORTED), closes idle connections and cancels DNS queries. */
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
 * The only component that sends webhooks. `send` never rejects and settles by the deadline. The URL is validated at every
 * attempt, also when an idle connection exists, and the connection uses only the validated addresses. HTTP/1.1 without
 * redirects and decompression; proxy variables are ignored and nothing is sent twice.
 */
export const createWebhookSender = ({
  timeoutMs,
  allowed,
  resolver: servers,
  ca,
  maxAnswerBytes = 2_048,
  // Below the five seconds after which common servers close an idle connection: a request on a connection that is just
  // closing is lost, and the delivery waits for its retry.
  idleConnectionMs = 4_000,
  now = () => new Date(),
}: WebhookSenderOptions): WebhookSender => {
  const resolver = createNameResolver(servers ? { servers } : {});
  const resolveAndValidate = resolveHost({ resolve: resolver.resolve, allowed });
  // Created once: parsing some 140 roots for each connection costs more than the handshake.
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
    const host = await Promise.race([resolveAndValidate(read.url.hostname), stopped]);
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
    const onSignal = () => stop.stop('ABORTED: the attempt was cancelled');
    const timer = setTimeout(() => stop.stop(`TIMEOUT: no complete answer within ${timeoutMs} ms`), timeoutMs);
    attempt.signal?.addEventListener('abort', onSignal);

    const isAborted = closed || attempt.signal?.aborted;
    const working = isAborted
      ? Promise.resolve({ ...unsent('ABORTED: the attempt was cancelled'), dnsMs: null })
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
