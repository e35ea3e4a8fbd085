import type { CheckSource, Exchange } from '@vat/domain';
import type { Reader } from '../connect-reader.js';

type Row = {
  request_id: string;
  source: CheckSource;
  started_at: Date;
  duration_ms: number;
  method: string;
  url: string;
  request_headers: Record<string, string>;
  request_body: Uint8Array;
  status: number | null;
  response_headers: Record<string, string> | null;
  response_body: Uint8Array | null;
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
    body: row.request_body,
  },
  response:
    row.status === null
      ? null
      : {
          status: row.status,
          headers: row.response_headers ?? {},
          body: row.response_body ?? new Uint8Array(),
          complete: row.complete,
        },
  error: row.error,
});

/** The exchanges of requests, in the order in which they were made. A request without any has no entry. */
export const readExchanges =
  (db: Reader) =>
  async (requestIds: readonly string[]): Promise<Map<string, Exchange[]>> => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT request_id, source, started_at, duration_ms, method, url, request_headers, request_body, status,
        response_headers, response_body, complete, error
      FROM exchange WHERE request_id = ANY(${[...requestIds]}::uuid[]) ORDER BY started_at, id`;
    const byRequest = new Map<string, Exchange[]>();
    for (const row of rows) {
      const made = byRequest.get(row.request_id) ?? [];
      made.push(exchangeOfRow(row));
      byRequest.set(row.request_id, made);
    }
    return byRequest;
  };
