import type { StoredAnswer } from '@vat/domain';

/** A JSON answer as the bytes that are sent, and kept for a replay. */
export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): StoredAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(body), 'utf8'),
});
