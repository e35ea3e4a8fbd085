import { createHash } from 'node:crypto';
import { checkBody, newUuid, newUuidAt, publicId, uuidOf } from '@vat/domain';
import { numberOf } from './call-checks.js';
import type { World } from './start-world.js';

const ROWS_PER_STATEMENT = 1_000;

type InsertChecks = {
  /** Public id of the account. */
  accountId: string;
  count: number;
  /** The time of the first check; the others follow at intervals of a millisecond. Default an hour ago. */
  from?: Date;
  /** Exchanges per check, and the bytes of each answer. */
  exchanges?: number;
  answerBytes?: number;
};

/**
 * Loaded on demand, because it would add a quarter of a second to every test file with a world, and once: jest refuses an import
 * while one of several concurrent tests has ended and none begins.
 */
let evidence: Promise<typeof import('@vat/evidence')> | undefined;

type Row = { id: string; request_id: string; vat_number: string; at: string; body: string; exchanges: string[] };
type Canonical = (row: Omit<Row, 'body' | 'exchanges'>) => string;

const saltOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);

/** The canonical form of a check, as the service makes it. */
const canonicalBody = async (): Promise<Canonical> => {
  evidence ??= import('@vat/evidence');
  const { hashCheck } = await evidence;
  return ({ id, request_id, vat_number: vatNumber, at }) => {
    const request = {
      ...{ id: request_id, test: false, vatNumber, memberState: 'FR' as const, input: vatNumber },
      ...{ requester: null, reference: null, trader: null },
      entries: [{ source: 'vies' as const, outcome: 'valid' as const, attempts: 1, started_at: at, duration_ms: 80 }],
    };
    const answer = {
      ...{ verdict: 'valid' as const, name: 'Société Générée', address: '1 rue du Test\n75002 Paris' },
      ...{ consultationNumber: null, traderMatch: null, answeredAt: at },
    };
    return new TextDecoder().decode(hashCheck(checkBody(id, request, answer, saltOf(id))).bytes);
  };
};

/** The texts of a row that its body contains. */
const textsOf = ({ id, request_id, vat_number, at }: Parameters<Canonical>[0]): string[] => [
  publicId('check', id),
  publicId('request', request_id),
  vat_number.slice(2),
  at,
  saltOf(id),
];

/** The body of a row made from that of another one, ten times as fast. */
const derive = (body: string, from: string[], to: string[]): string =>
  from.reduce((text, value, n) => text.replaceAll(value, to[n] ?? ''), body);

/**
 * Inserts checks as the service records them (request, exchanges, check, leaf of the next anchor), ten thousand per second, for
 * tests and benchmarks that read many checks. Returns the ids of the rows in ascending order.
 */
export const insertChecks = async (
  { sql }: Pick<World, 'sql'>,
  { accountId, count, from = new Date(Date.now() - 3_600_000), exchanges = 2, answerBytes = 1_500 }: InsertChecks,
): Promise<string[]> => {
  const bodyOf = await canonicalBody();
  const account = uuidOf('account', accountId);
  const ids: string[] = [];
  let inserting: Promise<unknown> = Promise.resolve();
  for (let start = 0; start < count; start += ROWS_PER_STATEMENT) {
    let first: { body: string; texts: string[] } | undefined;
    const rows = Array.from({ length: Math.min(ROWS_PER_STATEMENT, count - start) }, (_, i): Row => {
      const time = new Date(from.getTime() + start + i);
      const [id, request_id, vat_number] = [newUuidAt(time), newUuidAt(time), numberOf('FR', start + i)];
      const row = { id, request_id, vat_number, at: time.toISOString() };
      first ??= { body: bodyOf(row), texts: textsOf(row) };
      ids.push(id);
      return {
        ...row,
        body: derive(first.body, first.texts, textsOf(row)),
        exchanges: Array.from({ length: exchanges }, newUuid),
      };
    });
    const last = rows.at(-1);
    if (last !== undefined && last.body !== bodyOf(last))
      throw new Error('a body that was derived is not that of its check');
    // Postgres inserts while the next rows are made.
    await inserting;
    inserting = sql(
      `WITH c AS MATERIALIZED (
         SELECT id, request_id, vat_number, at, convert_to(body, 'UTF8') AS body, sha256(convert_to(body, 'UTF8')) AS hash, exchanges,
           convert_to(format('{"countryCode":"FR","vatNumber":"%s"}', vat_number), 'UTF8') AS sent,
           convert_to(format('{"valid":true,"vatNumber":"%s","filler":"%s"}', vat_number, repeat('x', $3::int)), 'UTF8') AS received
         FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, request_id uuid, vat_number text, at timestamptz, body text, exchanges jsonb)
       ), requested AS (
         INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
           window_ends_at, due_at, ended_at, check_id)
         SELECT request_id, $2::uuid, false, 'completed', vat_number, 'FR', substr(vat_number, 3), vat_number, '[]', at,
           at, at, at, id FROM c
       ), checked AS (
         INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
         SELECT id, $2::uuid, request_id, false, vat_number, true, at, body, hash FROM c
       ), exchanged AS (
         INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers,
           request_body, request_sha256, status, response_headers, response_body, response_sha256, complete)
         SELECT x.id::uuid, request_id, 'vies', at, 80, 'POST', 'http://127.0.0.1/check-vat-number',
           '{"content-type":"application/json"}', sent, sha256(sent), 200,
           '{"content-type":"application/json"}', received, sha256(received), true
         FROM c, jsonb_array_elements_text(c.exchanges) AS x(id)
       )
       INSERT INTO anchor_leaf (check_id, hash) SELECT id, hash FROM c`,
      [JSON.stringify(rows), account, answerBytes],
    );
    // It is awaited later; without a handler until then, its rejection would end the process.
    inserting.catch(() => undefined);
  }
  await inserting;
  return ids;
};
