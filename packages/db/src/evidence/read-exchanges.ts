import type { CheckSource, Exchange } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

type Row = {
  request_id: string;
  source: CheckSource;
  started_at: Date;
  duration_ms: number;
  method: string;
  url: string;
  request_headers: Record<string, string>;
  request_hex: string;
  status: number | null;
  response_headers: Record<string, string> | null;
  response_hex: string | null;
  complete: boolean;
  error: string | null;
};

const exchangeOfRow = (row: Row): Exchange => ({
  source: row.source,
  startedAt: row.started_at,
  durationMs: row.duration_ms,
  request: {
    method: row.method,
    url: row.url,
    headers: row.request_headers,
    body: Buffer.from(row.request_hex, 'hex'),
  },
  response:
    row.status === null
      ? null
      : {
          status: row.status,
          headers: row.response_headers ?? {},
          body: Buffer.from(row.response_hex ?? '', 'hex'),
          complete: row.complete,
        },
  error: row.error,
});

/**
 * The exchanges of requests, in the order in which they were made. A request without any has no entry. Bytes travel as hex:
 * Prisma's own way with them took twice the time and the memory.
 */
export const readExchanges =
  (db: Queryable) =>
  async (requestIds: readonly string[]): Promise<Map<string, Exchange[]>> => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT request_id, source, started_at, duration_ms, method, url, request_headers,
        encode(request_body, 'hex') AS request_hex, status, response_headers, encode(response_body, 'hex') AS response_hex,
        complete, error
      FROM exchange WHERE request_id = ANY(${[...requestIds]}::uuid[]) ORDER BY started_at, id`;
    const byRequest = new Map<string, Exchange[]>();
    for (const row of rows) {
      const made = byRequest.get(row.request_id) ?? [];
      made.push(exchangeOfRow(row));
      byRequest.set(row.request_id, made);
    }
    return byRequest;
  };
