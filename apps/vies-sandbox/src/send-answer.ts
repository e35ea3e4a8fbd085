import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import type { RenderedAnswer } from './render-answer.js';

const DRIP_EVERY_MS = 200;
const HUGE_CHUNK = Buffer.alloc(64 * 1024, 'A');

/** Puts an answer on the wire in the manner of its kind. Whatever runs on ends when the client is gone. */
export const sendAnswer = (response: ServerResponse, kind: Answer['kind'], rendered: RenderedAnswer): void => {
  const { status, contentType, retryAfter } = rendered;
  const body = Buffer.from(rendered.body);
  const headers = {
    'content-type': contentType,
    'content-length': body.byteLength,
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };

  if (kind === 'hang') return;
  if (kind === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (kind === 'cut') {
    const half = body.subarray(0, Math.ceil(body.byteLength / 2));
    response.writeHead(status, headers).write(half, () => response.socket?.destroy());
    return;
  }
  if (kind === 'drip') {
    response.writeHead(status, headers).flushHeaders();
    let sent = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent + 1));
      sent += 1;
      if (sent < body.byteLength) return;
      clearInterval(timer);
      response.end();
    }, DRIP_EVERY_MS);
    response.once('close', () => clearInterval(timer));
    return;
  }
  if (kind === 'huge') {
    response.writeHead(status, { 'content-type': contentType });
    response.write('{"valid":true,"name":"');
    const pour = () => {
      while (!response.destroyed && response.write(HUGE_CHUNK));
    };
    response.on('drain', pour);
    pour();
    return;
  }
  response.writeHead(status, headers).end(body);
};
