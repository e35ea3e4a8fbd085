import { createHash } from 'node:crypto';
import { checkBody, newUuid, newUuidAt, uuidOf } from '@vat/domain';
import { numberOf } from './call-checks.js';
import type { World } from './start-world.js';

const ROWS_PER_STATEMENT = 1_000;
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

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

/**
 * Inserts checks as the service records them (request, exchanges, check, leaf of the next anchor), thousands per second, for
 * tests and benchmarks that read many checks. Returns the ids of the rows in ascending order.
 */
export const insertChecks = async (
  { sql }: Pick<World, 'sql'>,
  { accountId, count, from = new Date(Date.now() - 3_600_000), exchanges = 2, answerBytes = 1_500 }: InsertChecks,
): Promise<string[]> => {
  evidence ??= import('@vat/evidence');
  const { hashCheck } = await evidence;
  const account = uuidOf('account', accountId);
  const ids: string[] = [];
  let inserting: Promise<unknown> = Promise.resolve();
  for (let start = 0; start < count; start += ROWS_PER_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_PER_STATEMENT, count - start) }, (_, i) => {
      const time = new Date(from.getTime() + start + i);
      const at = time.toISOString();
      const [id, requestId, vatNumber] = [newUuidAt(time), newUuidAt(time), numberOf('FR', start + i)];
      const request = {
        ...{ id: requestId, test: false, vatNumber, memberState: 'FR' as const, input: vatNumber },
        ...{ requester: null, reference: null, trader: null },
        entries: [{ source: 'vies' as const, outcome: 'valid' as const, attempts: 1, started_at: at, duration_ms: 80 }],
      };
      const answer = {
        ...{ verdict: 'valid' as const, name: 'Société Générée', address: '1 rue du Test\n75002 Paris' },
        ...{ consultationNumber: null, traderMatch: null, answeredAt: at },
      };
      const { bytes, hash } = hashCheck(checkBody(id, request, answer, sha256(Buffer.from(id)).toString('hex', 0, 16)));
      const sent = Buffer.from(JSON.stringify({ countryCode: 'FR', vatNumber }));
      const received = Buffer.from(JSON.stringify({ valid: true, vatNumber, filler: 'x'.repeat(answerBytes) }));
      ids.push(id);
      return {
        ...{ id, request_id: requestId, vat_number: vatNumber, at },
        ...{ body: Buffer.from(bytes).toString('hex'), hash: Buffer.from(hash).toString('hex') },
        exchanges: Array.from({ length: exchanges }, newUuid),
        ...{ sent: sent.toString('hex'), sent_sum: sha256(sent).toString('hex') },
        ...{ received: received.toString('hex'), received_sum: sha256(received).toString('hex') },
      };
    });
    // Postgres inserts while the next rows are made.
    await inserting;
    inserting = sql(
      `WITH c AS MATERIALIZED (
         SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, request_id uuid, vat_number text, at timestamptz,
           body text, hash text, exchanges jsonb, sent text, sent_sum text, received text, received_sum text)
       ), requested AS (
         INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
           window_ends_at, due_at, ended_at, check_id)
         SELECT request_id, $2::uuid, false, 'completed', vat_number, 'FR', substr(vat_number, 3), vat_number, '[]', at,
           at, at, at, id FROM c
       ), checked AS (
         INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
         SELECT id, $2::uuid, request_id, false, vat_number, true, at, decode(body, 'hex'), decode(hash, 'hex') FROM c
       ), exchanged AS (
         INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers,
           request_body, request_sha256, status, response_headers, response_body, response_sha256, complete)
         SELECT x.id::uuid, request_id, 'vies', at, 80, 'POST', 'http://127.0.0.1/check-vat-number',
           '{"content-type":"application/json"}', decode(sent, 'hex'), decode(sent_sum, 'hex'), 200,
           '{"content-type":"application/json"}', decode(received, 'hex'), decode(received_sum, 'hex'), true
         FROM c, jsonb_array_elements_text(c.exchanges) AS x(id)
       )
       INSERT INTO anchor_leaf (check_id, hash) SELECT id, decode(hash, 'hex') FROM c`,
      [JSON.stringify(rows), account],
    );
    // It is awaited later; without a handler until then, its rejection would end the process.
    inserting.catch(() => undefined);
  }
  await inserting;
  return ids;
};
