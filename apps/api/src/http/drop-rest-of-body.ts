import type { Request, Response } from 'express';

/** A client that sends on after its refusal is cut off after this long, in milliseconds. */
const LONGEST_MS = 5_000;
/** And is read no further than this, in bytes: from here on its sending stalls. */
const MOST_BYTES = 16 * 1024 * 1024;

/** No faster than this, so that the client's own process comes to see its answer before the bytes are used up. */
const PIECE_BYTES = 1024 * 1024;
const PAUSE_MS = 10;

/**
 * Lets a refusal reach a client whose body was not read to its end. Closing a connection that holds unread bytes resets
 * it, and most clients then report a broken connection and never the answer; reading on without an end is what the
 * refusal was to avoid. So the rest is read slowly and dropped, up to a limit, and then left unread: a client that looks
 * for an answer only when it cannot send (streams in JavaScript do) comes to look. Call it before the refusal is sent.
 */
export const dropRestOfBody = (req: Request, res: Response): void => {
  // Who asked whether to send has sent nothing, and now will not.
  if (req.complete || req.headers.expect !== undefined) return;
  const asksToClose = /\bclose\b/i.test(req.headers.connection ?? '');
  // Otherwise Node closes at the end of the answer. The client may close whenever it likes.
  res.setHeader('Connection', 'keep-alive');

  // Before Node's own listener, which would read on and on once nobody else has begun to.
  res.prependOnceListener('finish', () => {
    let dropped = 0;
    let pieces = 0;
    const end = (): void => void req.socket.destroySoon();
    const deadline = setTimeout(end, LONGEST_MS);
    let pause: NodeJS.Timeout | undefined;
    req.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped < (pieces + 1) * PIECE_BYTES) return;
      pieces += 1;
      req.pause();
      if (dropped < MOST_BYTES) pause = setTimeout(() => req.resume(), PAUSE_MS);
    });
    req.once('end', () => asksToClose && end());
    req.once('close', () => {
      clearTimeout(deadline);
      clearTimeout(pause);
    });
    req.read();
    req.resume();
  });
};
