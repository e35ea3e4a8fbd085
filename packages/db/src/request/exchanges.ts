import { createHash } from 'node:crypto';
import { type CheckSource, type Exchange, newUuid } from '@vat/domain';
import type { Reader } from '../connect-reader.js';
import { Prisma } from '../generated/client.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** An exchange as a JSON record, with bytes in hex, and with the hashes for the evidence. */
const record = (exchange: Exchange) => ({
  id: newUuid(),
  source: exchange.source,
  started_at: exchange.startedAt.toISOString(),
  duration_ms: exchange.durationMs,
  method: exchange.request.method,
  url: exchange.request.url,
  request_headers: exchange.request.headers,
  request_body: hex(exchange.request.body),
  request_sha256: sha256(exchange.request.body),
  status: exchange.response?.status ?? null,
  response_headers: exchange.response?.headers ?? null,
  response_body: exchange.response ? hex(exchange.response.body) : null,
  response_sha256: exchange.response ? sha256(exchange.response.body) : null,
  complete: exchange.response?.complete ?? false,
  error: exchange.error,
});

/** The INSERT of a request's exchanges, for a WITH clause. `requestIds`: a query of one uuid, or of none to insert nothing. */
export const insertExchanges = (exchanges: readonly Exchange[], requestIds: Prisma.Sql): Prisma.Sql => Prisma.sql`
  INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
    request_sha256, status, response_headers, response_body, response_sha256, complete, error)
  SELECT x.id, req.id, x.source, x.started_at, x.duration_ms, x.method, x.url, x.request_headers,
    decode(x.request_body, 'hex'), decode(x.request_sha256, 'hex'), x.status, x.response_headers,
    decode(x.response_body, 'hex'), decode(x.response_sha256, 'hex'), x.complete, x.error
  FROM (${requestIds}) AS req(id), jsonb_to_recordset(${JSON.stringify(exchanges.map(record))}::jsonb) AS x(id uuid,
    source text, started_at timestamptz, duration_ms int, method text, url text, request_headers jsonb,
    request_body text, request_sha256 text, status int, response_headers jsonb, response_body text,
    response_sha256 text, complete boolean, error text)`;

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
      const exchanges = byRequest.get(row.request_id) ?? [];
      exchanges.push(exchangeOfRow(row));
      byRequest.set(row.request_id, exchanges);
    }
    return byRequest;
  };
