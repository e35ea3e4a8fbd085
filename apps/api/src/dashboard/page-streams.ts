import { setTimeout as pause } from 'node:timers/promises';
import { AppError, PAGE_TOPICS, type PageUpdate } from '@vat/domain';
import { coalescePageUpdates, type PageUpdateSubscription } from '@vat/queues';
import type { RequestHandler } from 'express';
import { type SessionTokens, sessionOf } from './session.js';

/** A page that listens. `session`: SHA-256 of its session's token, in hex. */
type PageStream = { accountId: string; session: string; write: (text: string) => void; end: () => void };

export type PageStreamsDeps = {
  subscribe: (onUpdates: (accountId: string, news: PageUpdate[]) => void) => PageUpdateSubscription;
  /** Of these sessions, those that are live. */
  liveSessions: (ids: readonly string[], now: Date) => Promise<Set<string>>;
  limits: PageStreamLimits;
  now: () => Date;
};

/** Times in milliseconds. */
export type PageStreamLimits = {
  /** Below the six connections that a browser opens to a host over HTTP/1.1: all of them listening, it could ask nothing. */
  perSession: number;
  /** So that nobody who signs in again and again takes those of all others. */
  perAccount: number;
  perProcess: number;
  /** Between two messages to a page. */
  everyMs: number;
  /** Between two signs of life, at which sessions are looked at. */
  heartbeatMs: number;
  /** While nothing can be heard, pages are told to read everything again this often. */
  deafMs: number;
};

export type PageStreams = {
  /**
   * Adds a page, or throws TOO_MANY_STREAMS. `ready` resolves when it misses nothing any more; without Redis that is
   * when Redis is back. Call `leave` when the page is gone.
   */
  join: (stream: PageStream) => { ready: Promise<void>; leave: () => void };
  /** Ends all streams, and every further one as it comes. */
  close: () => void;
};

const RETRY_S = 60;

const eventOf = (news: PageUpdate): string => `event: changed\ndata: ${JSON.stringify(news)}\n\n`;
const EVERYTHING = PAGE_TOPICS.map((topic) => eventOf({ topic })).join('');

/** Spreads the news that a process hears over the pages that listen on it, and ends the ones whose session has ended. */
export const pageStreams = ({ subscribe, liveSessions, limits, now }: PageStreamsDeps): PageStreams => {
  const byAccount = new Map<string, Set<PageStream>>();
  const all = new Set<PageStream>();
  let isClosed = false;

  const { tell, flush } = coalescePageUpdates(limits.everyMs, (accountId, news) => {
    const text = news.map(eventOf).join('');
    for (const stream of byAccount.get(accountId) ?? []) stream.write(text);
  });
  const subscription = subscribe((accountId, news) => {
    for (const { topic, id } of news) tell(accountId, topic, id);
  });

  const leave = (stream: PageStream): void => {
    if (!all.delete(stream)) return;
    const streams = byAccount.get(stream.accountId);
    streams?.delete(stream);
    if (streams?.size !== 0) return;
    byAccount.delete(stream.accountId);
    subscription.unfollow(stream.accountId);
  };

  /** Without waiting for the end to arrive, which it never does where nobody reads. */
  const sendOff = (stream: PageStream): void => {
    leave(stream);
    stream.end();
  };

  const beat = async (): Promise<void> => {
    const streams = [...all];
    if (streams.length === 0) return;
    // While Postgres is away nobody knows; whoever was let in stays.
    const live = await liveSessions([...new Set(streams.map(({ session }) => session))], now()).catch(() => null);
    for (const stream of streams) {
      if (live !== null && !live.has(stream.session)) sendOff(stream);
      else if (all.has(stream)) stream.write(': here\n\n');
    }
  };
  const heartbeat = setInterval(() => void beat(), limits.heartbeatMs).unref();

  let wasDeaf = false;
  const listenIn = (): void => {
    const isDeaf = !subscription.isListening();
    // Once more when it can be heard again, for what was missed.
    if (isDeaf || wasDeaf) for (const stream of all) stream.write(EVERYTHING);
    wasDeaf = isDeaf;
  };
  const listening = setInterval(listenIn, limits.deafMs).unref();

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
      clearInterval(listening);
      flush();
      for (const stream of [...all]) sendOff(stream);
    },
  };
};

export type StreamPageUpdatesDeps = { streams: PageStreams; tokens: SessionTokens };

/** What a page does not take for so long that it would fill this many bytes is not listening. */
const MAX_BEHIND_BYTES = 64 * 1024;
/** Without Redis the stream opens all the same. */
const LONGEST_WAIT_MS = 1_000;
/** After which the browser connects again by itself. */
const RECONNECT_MS = 2_000;

/** GET /app/api/news: server-sent events, each a reason to read something again. Source: docs/dashboard-api.md. */
export const streamPageUpdates =
  ({ streams, tokens }: StreamPageUpdatesDeps): RequestHandler =>
  async (req, res) => {
    const { accountId, token } = sessionOf(res);
    const begin = () => {
      res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      // A proxy that gathered the answer before it passes it on would keep the news to itself.
      res.setHeader('X-Accel-Buffering', 'no');
    };
    if (req.method === 'HEAD') {
      begin();
      return void res.end();
    }
    // Whoever left while the session was looked for closes nothing any more.
    if (res.destroyed) return;
    const { ready, leave } = streams.join({
      accountId,
      session: tokens.hash(token).toString('hex'),
      write: (text) => {
        if (!res.headersSent || res.writableEnded) return;
        res.write(text);
        if (res.writableLength > MAX_BEHIND_BYTES) res.destroy();
      },
      end: () => void res.end(),
    });
    res.once('close', leave);
    if (res.writableEnded) return;
    begin();
    // A page reads everything when its stream opens: from then on it must miss nothing.
    await Promise.race([ready, pause(LONGEST_WAIT_MS, undefined, { ref: false })]);
    if (!res.writableEnded && !res.destroyed) res.write(`retry: ${RECONNECT_MS}\n\n`);
  };
