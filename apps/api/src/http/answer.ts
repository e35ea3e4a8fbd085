import type { StoredAnswer } from '@vat/domain';
import type { Response } from 'express';

/** A JSON answer as the bytes that are sent, and kept for a replay. */
export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): StoredAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(body), 'utf8'),
});

/** Sends an answer that was made as bytes. `replayed`: it was given before, to the same Idempotency-Key. */
export const sendAnswer = (res: Response, answer: StoredAnswer, replayed: boolean): void => {
  if (replayed) res.setHeader('Idempotency-Replayed', 'true');
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  res.status(answer.status).end(Buffer.from(answer.body));
};
