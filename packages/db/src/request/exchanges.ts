import { createHash } from 'node:crypto';
import type { CheckSource, Exchange } from '@vat/domain';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, type Reader, type RowOf, selectList, typed } from '../query.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A UUID that is the same for the same content. Source: RFC 9562 §5.8. */
const uuidOf = (content: string): string => {
  const hash = sha256(Buffer.from(content));
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
};

/** An exchange as a JSON record, with bytes in hex, and with the hashes for the evidence. */
const recordOf = (exchange: Exchange) => ({
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

/**
 * The record with an id that derives from its content: a statement whose result was lost is repeated, and must not store an
 * exchange twice that took place once.
 */
const record = (exchange: Exchange) => {
  const content = recordOf(exchange);
  const {
    source,
    started_at: at,
    duration_ms: ms,
    url,
    request_sha256: sent,
    response_sha256: received,
    error,
  } = content;
  return { id: uuidOf(JSON.stringify([source, at, ms, url, sent, received, error])), ...content };
};

/**
 * The INSERT of a request's exchanges, for a WITH clause. `requestIds`: a query of one uuid, or of none to insert nothing. Those
 * that are stored already are left out.
 */
export const insertExchanges = (exchanges: readonly Exchange[], requestIds: Prisma.Sql): Prisma.Sql => Prisma.sql`
  INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
    request_sha256, status, response_headers, response_body, response_sha256, complete, error)
  SELECT x.id, req.id, x.source, x.started_at, x.duration_ms, x.method, x.url, x.request_headers,
    decode(x.request_body, 'hex'), decode(x.request_sha256, 'hex'), x.status, x.response_headers,
    decode(x.response_body, 'hex'), decode(x.response_sha256, 'hex'), x.complete, x.error
  FROM (${requestIds}) AS req(id), jsonb_to_recordset(${JSON.stringify(exchanges.map(record))}::jsonb) AS x(id uuid,
    source text, started_at timestamptz, duration_ms int, method text, url text, request_headers jsonb,
    request_body text, request_sha256 text, status int, response_headers jsonb, response_body text,
    response_sha256 text, complete boolean, error text)
  ON CONFLICT DO NOTHING`;

const EXCHANGE = columns({
  requestId: 'uuid',
  source: typed<CheckSource>('text'),
  startedAt: 'timestamptz',
  durationMs: 'int4',
  ...all('text', 'method', 'url'),
  requestHeaders: typed<Record<string, string>>('jsonb'),
  requestBody: 'bytea',
  status: 'int4?',
  responseHeaders: typed<Record<string, string> | null>('jsonb?'),
  responseBody: 'bytea?',
  complete: 'bool',
  error: 'text?',
});

const exchangeOfRow = (row: RowOf<typeof EXCHANGE>): Exchange => {
  const { source, startedAt, durationMs, method, url, status, complete, error } = row;
  const response = { headers: row.responseHeaders ?? {}, body: row.responseBody ?? new Uint8Array(), complete };
  return {
    source,
    startedAt,
    durationMs,
    request: { method, url, headers: row.requestHeaders, body: row.requestBody },
    response: status === null ? null : { status, ...response },
    error,
  };
};

/** The exchanges of requests, in the order in which they were made. A request without any has no entry. */
export const readExchanges =
  (db: Reader) =>
  async (requestIds: readonly string[]): Promise<Map<string, Exchange[]>> => {
    const rows = await query(db, EXCHANGE)`
      SELECT ${selectList('e', EXCHANGE)} FROM exchange e WHERE ${isOneOf(Prisma.sql`e.request_id`, requestIds)}
      ORDER BY e.started_at, e.id`;
    const byRequest = new Map<string, Exchange[]>();
    for (const row of rows) {
      const exchanges = byRequest.get(row.requestId) ?? [];
      exchanges.push(exchangeOfRow(row));
      byRequest.set(row.requestId, exchanges);
    }
    return byRequest;
  };
