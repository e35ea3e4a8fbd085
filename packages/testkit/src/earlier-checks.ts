import { type CheckBody, uuidOf } from '@vat/domain';
import type { Sql, TestAccount } from './insert-account.js';

/**
 * Checks as earlier releases recorded them: the hashed bytes and their SHA-256, which must never change. 0.1.0 had no
 * `trader` and no facts of registers, 1.0.0-rc.1 had no `match` and no `evidence_grade`.
 */
export const EARLIER_CHECKS = [
  {
    release: '0.1.0',
    text: String.raw`{"address":"1 RUE DE LA PAIX\n75002 PARIS","checked_at":"2026-11-20T10:00:00.443Z","checks":[{"duration_ms":0,"outcome":"valid","source":"syntax","started_at":"2026-11-20T10:00:00.000Z"},{"attempts":1,"duration_ms":431,"outcome":"valid","source":"vies","started_at":"2026-11-20T10:00:00.012Z"}],"consultation_number":"WAPIAAAAYNVbMx12","country_code":"FR","hash_profile":"jcs-sha256-v1","id":"chk_01m7w2q8z5e0a9v6n3r4t7y1bc","input":"FR 40 303 265 045","name":"SA EXEMPLE","object":"check","reference":"order-7","request_id":"req_01m7w2q8yxe0a9v6n3r4t7y1bb","requester_vat_number":"BE0428759497","salt":"5c1a0ad9f7e24b7c8f3b0f1f5d9a6e21","trader_match":null,"valid":true,"vat_number":"FR40303265045","verdict":"valid"}`,
    sha256: '66ad491616a33aa35906d65612092fa7dfa1f4f541bf19c07eb637190d184a21',
  },
  {
    release: '1.0.0-rc.1',
    text: String.raw`{"address":"1 RUE DE LA PAIX\n75002 PARIS","checked_at":"2026-11-20T10:00:00.443Z","checks":[{"duration_ms":0,"outcome":"valid","source":"syntax","started_at":"2026-11-20T10:00:00.000Z"},{"attempts":1,"duration_ms":431,"outcome":"valid","source":"vies","started_at":"2026-11-20T10:00:00.012Z"},{"attempts":1,"detail":"siren: 303265045; state: active","duration_ms":120,"facts":{"address":"1 RUE DE LA PAIX 75002 PARIS","name":"SA EXEMPLE","register_id":"303265045","status":"A","vat_numbers":["FR40303265045"]},"outcome":"found","source":"fr_recherche_entreprises","started_at":"2026-11-20T10:00:00.449Z"}],"consultation_number":"WAPIAAAAYNVbMx12","country_code":"FR","hash_profile":"jcs-sha256-v1","id":"chk_01m7w2q8z5e0a9v6n3r4t7y1bd","input":"FR 40 303 265 045","name":"SA EXEMPLE","object":"check","reference":"order-7","request_id":"req_01m7w2q8yxe0a9v6n3r4t7y1be","requester_vat_number":"BE0428759497","salt":"8f3b0f1f5d9a6e215c1a0ad9f7e24b7c","trader":{"city":"Paris","name":"Exemple S.A."},"trader_match":{"city":"not_processed","company_type":"not_processed","name":"not_processed","postal_code":"not_processed","street":"not_processed"},"valid":true,"vat_number":"FR40303265045","verdict":"valid"}`,
    sha256: 'dfd6e9b6d8eeb246c244ef62d4b1db255f8fd76fc79771027098e76384517b42',
  },
] as const;

/** Inserts them as the service recorded them. Their ids are those in the texts. */
export const insertEarlierChecks = ({ sql }: { sql: Sql }, { account_id }: TestAccount) =>
  Promise.all(
    EARLIER_CHECKS.map(async ({ text, sha256 }) => {
      const { id, request_id, vat_number, checked_at } = JSON.parse(text) as CheckBody;
      await sql(
        `WITH requested AS (
           INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
             window_ends_at, due_at, ended_at, check_id)
           VALUES ($1, $3, false, 'completed', $4, 'FR', substr($4, 3), $4, '[]', $5, $5, $5, $5, $2)
         ), checked AS (
           INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
           VALUES ($2, $3, $1, false, $4, true, $5, convert_to($6, 'UTF8'), decode($7, 'hex'))
         )
         INSERT INTO anchor_leaf (check_id, hash) VALUES ($2, decode($7, 'hex'))`,
        [
          ...[uuidOf('request', request_id), uuidOf('check', id), uuidOf('account', account_id)],
          ...[vat_number, checked_at, text, sha256],
        ],
      );
      return { id, text, sha256 };
    }),
  );
