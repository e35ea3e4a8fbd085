import { setTimeout as pause } from 'node:timers/promises';
import { AppError, PAGE_TOPICS, type PageUpdate } from '@vat/domain';
import { coalescePageUpdates, type PageUpdateSubscription } from '@vat/queues';
import type { RequestHandler } from 'express';
import { type SessionTokens, sessionOf } from './session.js';

/** The stream of one open page. `session`: SHA-256 of the session's token, in hex. */
type PageStream = { accountId: string; session: string; write: (text: string) => void; end: () => void };

export type PageStreamsDeps = {
  subscribe: (onUpdates: (accountId: string, updates: PageUpdate[]) => void) => PageUpdateSubscription;
  /** The ids of those of the given sessions that have not ended. */
  liveSessions: (ids: readonly string[], now: Date) => Promise<Set<string>>;
  limits: PageStreamLimits;
  now: () => Date;
};

/** Times in milliseconds. */
export type PageStreamLimits = {
  /** Fewer than the six connections that a browser opens to a host over HTTP/1.1, so that some remain for calls. */
  perSession: number;
  /** Limits an account that signs in repeatedly, so that streams remain for other accounts. */
  perAccount: number;
  perProcess: number;
  /** Updates within this time are sent to a page together. */
  coalesceMs: number;
  /** The interval of heartbeats, at which sessions are checked too. */
  heartbeatMs: number;
  /** While the process cannot receive updates, pages are made to read everything again at this interval. */
  rereadMs: number;
};

export type PageStreams = {
  /**
   * Adds the stream of a page, or throws TOO_MANY_STREAMS. `ready` resolves when the stream receives all updates; while Redis
   * is away, that is when Redis is back. Call `leave` when the page has disconnected.
   */
  join: (stream: PageStream) => { ready: Promise<void>; leave: () => void };
  /** Ends all streams, and all later ones immediately. */
  close: () => void;
};

const RETRY_S = 60;

const eventOf = (update: PageUpdate): string => `event: changed\ndata: ${JSON.stringify(update)}\n\n`;
/** One event for each topic, after which a page reads everything again. */
const ALL_TOPICS = PAGE_TOPICS.map((topic) => eventOf({ topic })).join('');

/** Distributes the page updates that a process receives to the streams of its pages, and ends streams whose session has ended. */
export const pageStreams = ({ subscribe, liveSessions, limits, now }: PageStreamsDeps): PageStreams => {
  const byAccount = new Map<string, Set<PageStream>>();
  const all = new Set<PageStream>();
  let isClosed = false;

  const { publish: send, flush } = coalescePageUpdates(limits.coalesceMs, (accountId, updates) => {
    const text = updates.map(eventOf).join('');
    for (const stream of byAccount.get(accountId) ?? []) stream.write(text);
  });
  const subscription = subscribe((accountId, updates) => {
    for (const { topic, id } of updates) send(accountId, topic, id);
  });

  const leave = (stream: PageStream): void => {
    if (!all.delete(stream)) return;
    const streams = byAccount.get(stream.accountId);
    streams?.delete(stream);
    if (streams?.size !== 0) return;
    byAccount.delete(stream.accountId);
    subscription.unfollow(stream.accountId);
  };

  /** Removes the stream before its connection is closed: a client that does not read never closes it. */
  const endStream = (stream: PageStream): void => {
    leave(stream);
    stream.end();
  };

  const beat = async (): Promise<void> => {
    const streams = [...all];
    if (streams.length === 0) return;
    // While Postgres is away sessions cannot be checked, and all streams stay open.
    const live = await liveSessions([...new Set(streams.map(({ session }) => session))], now()).catch(() => null);
    for (const stream of streams) {
      if (live !== null && !live.has(stream.session)) endStream(stream);
      else if (all.has(stream)) stream.write(': here\n\n');
    }
  };
  const heartbeat = setInterval(() => void beat(), limits.heartbeatMs).unref();

  let wasDisconnected = false;
  const requestReread = (): void => {
    const isDisconnected = !subscription.isListening();
    // Also once after the connection is restored, for the updates that were missed.
    if (isDisconnected || wasDisconnected) for (const stream of all) stream.write(ALL_TOPICS);
    wasDisconnected = isDisconnected;
  };
  const rereading = setInterval(requestReread, limits.rereadMs).unref();

  return {
    join: (stream) => {
      if (isClosed) {
        stream.end();
        return { ready: Promise.resolve(), leave: () => undefined };
      }
      const ofAccount = [...(byAccount.get(stream.accountId) ?? [])];
      const ofSession = ofAccount.filter(({ session }) => session === stream.session);
      if (
        all.size >= limits.perProcess ||
        ofAccount.length >= limits.perAccount ||
        ofSession.length >= limits.perSession
      )
        throw new AppError('TOO_MANY_STREAMS', { extra: { retry_after: RETRY_S } });
      all.add(stream);
      const streams = byAccount.get(stream.accountId) ?? new Set();
      byAccount.set(stream.accountId, streams.add(stream));
      return { ready: subscription.follow(stream.accountId), leave: () => leave(stream) };
    },
    close: () => {
      isClosed = true;
      clearInterval(heartbeat);
      clearInterval(rereading);
      flush();
      for (const stream of [...all]) endStream(stream);
    },
  };
};

export type StreamPageUpdatesDeps = { streams: PageStreams; tokens: SessionTokens };

/** A page with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** The stream opens after this long even without Redis. */
const MAX_WAIT_MS = 1_000;
/** The browser reconnects after this long. */
const RECONNECT_MS = 2_000;

/** GET /app/api/news: server-sent events that name what a page should read again, see docs/dashboard-api.md. */
export const streamPageUpdates =
  ({ streams, tokens }: StreamPageUpdatesDeps): RequestHandler =>
  async (req, res) => {
    const { accountId, token } = sessionOf(res);
    const setHeaders = () => {
      res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      // Stops proxies from buffering the answer: a buffered event would reach the page too late.
      res.setHeader('X-Accel-Buffering', 'no');
    };
    if (req.method === 'HEAD') {
      setHeaders();
      return void res.end();
    }
    // The client disconnected while the session was read, so `close` will not be emitted again.
    if (res.destroyed) return;
    const { ready, leave } = streams.join({
      accountId,
      session: tokens.hash(token).toString('hex'),
      write: (text) => {
        if (!res.headersSent || res.writableEnded) return;
        res.write(text);
        if (res.writableLength > MAX_UNREAD_BYTES) res.destroy();
      },
      end: () => void res.end(),
    });
    res.once('close', leave);
    if (res.writableEnded) return;
    setHeaders();
    // A page reads everything when its stream opens, so from then on it must receive every update.
    await Promise.race([ready, pause(MAX_WAIT_MS, undefined, { ref: false })]);
    if (!res.writableEnded && !res.destroyed) res.write(`retry: ${RECONNECT_MS}\n\n`);
  };
