import type { StoredAnswer } from '@vat/domain';
import type { Response } from 'express';

/** Sends an answer that was made as bytes. `replayed`: it was given before, to the same Idempotency-Key. */
export const sendAnswer = (res: Response, answer: StoredAnswer, replayed: boolean): void => {
  if (replayed) res.setHeader('Idempotency-Replayed', 'true');
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  res.status(answer.status).end(Buffer.from(answer.body));
};
