import { setTimeout as pause } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { PageStreams } from './page-streams.js';
import { sessionOf } from './session-of.js';
import type { SessionTokens } from './session-tokens.js';

export type StreamPageNewsDeps = { streams: PageStreams; tokens: SessionTokens };

/** What a page does not take for so long that it would fill this many bytes is not listening. */
const MOST_BEHIND_BYTES = 64 * 1024;
/** Without Redis the stream opens all the same. */
const LONGEST_WAIT_MS = 1_000;
/** After which the browser connects again by itself. */
const RECONNECT_MS = 2_000;

/** GET /app/api/news: server-sent events, each a reason to read something again. Source: docs/dashboard-api.md. */
export const streamPageNews =
  ({ streams, tokens }: StreamPageNewsDeps): RequestHandler =>
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
        if (res.writableLength > MOST_BEHIND_BYTES) res.destroy();
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
