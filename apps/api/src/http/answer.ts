import type { StoredAnswer } from '@vat/domain';
import type { Response } from 'express';

/** A JSON answer as the bytes that are sent and stored for replays. */
export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): StoredAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(body), 'utf8'),
});

/** Sends a stored answer. `replayed`: it was already sent for the same Idempotency-Key. */
export const sendAnswer = (res: Response, answer: StoredAnswer, replayed: boolean): void => {
  if (replayed) res.setHeader('Idempotency-Replayed', 'true');
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  res.status(answer.status).end(Buffer.from(answer.body));
};
