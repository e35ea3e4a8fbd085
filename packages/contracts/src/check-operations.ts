import { checkLinkSchema, checkRequestBody, checkSchema } from './check.js';
import { checkListQuery, pageOf } from './lists.js';
import { type Operation, ok } from './operation.js';
import { acceptanceSchema, requestSchema } from './request.js';

/** A check, for examples. */
export const checkExample = {
  id: 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc',
  object: 'check',
  request_id: 'req_01m7w2q8yxe0a9v6n3r4t7y1bb',
  vat_number: 'FR40303265045',
  country_code: 'FR',
  input: 'FR 40 303 265 045',
  valid: true,
  verdict: 'valid',
  name: 'SA EXEMPLE',
  address: '1 RUE DE LA PAIX\n75002 PARIS',
  requester_vat_number: null,
  consultation_number: null,
  trader_match: {
    name: 'not_processed',
    street: 'not_processed',
    postal_code: 'not_processed',
    city: 'not_processed',
    company_type: 'not_processed',
  },
  trader: { name: 'Exemple S.A.', city: 'Paris' },
  match: {
    score: 100,
    name: { score: 100, expected: 'Exemple S.A.', found: 'SA EXEMPLE', source: 'vies' },
    street: null,
    postal_code: null,
    city: { score: 100, expected: 'Paris', found: 'PARIS', source: 'vies' },
  },
  evidence_grade: 'corroborated',
  reference: 'order-7',
  checks: [
    { source: 'syntax', outcome: 'valid', started_at: '2026-11-20T10:00:00.000Z', duration_ms: 0 },
    { source: 'vies', outcome: 'valid', attempts: 1, started_at: '2026-11-20T10:00:00.012Z', duration_ms: 431 },
    {
      source: 'fr_recherche_entreprises',
      outcome: 'found',
      attempts: 1,
      started_at: '2026-11-20T10:00:00.449Z',
      duration_ms: 120,
      detail: 'siren: 303265045; state: active; name: SA EXEMPLE',
      facts: {
        name: 'SA EXEMPLE',
        address: '1 RUE DE LA PAIX 75002 PARIS',
        legal_form: '5599',
        status: 'A',
        register_id: '303265045',
        vat_numbers: ['FR40303265045'],
      },
    },
  ],
  checked_at: '2026-11-20T10:00:00.443Z',
  salt: '5c1a0ad9f7e24b7c8f3b0f1f5d9a6e21',
  hash_profile: 'jcs-sha256-v1',
  response_hash: 'sha256:b6f0b3f7d6b0f0c34b0e0b5bb6a0d4a4b2c1f5f0a6f5b8b7b3b2e1d0c9b8a7f6',
  timestamp: null,
  anchor: null,
};

const acceptanceExample = {
  request_id: 'req_01m7w2q8yxe0a9v6n3r4t7y1bb',
  status: 'pending',
  poll_url: 'https://vat.example.com/v1/requests/req_01m7w2q8yxe0a9v6n3r4t7y1bb',
  accepted_at: '2026-11-20T10:00:20.000Z',
  give_up_at: '2026-11-21T10:00:20.000Z',
  checks: [
    { source: 'syntax', outcome: 'valid', started_at: '2026-11-20T10:00:00.000Z', duration_ms: 0 },
    {
      source: 'vies',
      outcome: 'saturated',
      code: 'MS_MAX_CONCURRENT_REQ',
      attempts: 6,
      started_at: '2026-11-20T10:00:00.012Z',
      duration_ms: 15_730,
    },
  ],
};

const checks = { path: '/v1/checks', tag: 'Checks' } as const;
const one = { ...checks, path: '/v1/checks/{id}', id: 'check' } as const;

/** The operations of checks and of the requests that lead to them. */
export const CHECK_OPERATIONS = {
  createCheck: {
    ...checks,
    method: 'post',
    summary: 'Check a VAT number',
    description:
      'Waits up to about 20 s for the upstream, or about 48 s with confirmation and enrichment, so use a client timeout of 60 s. If the upstream does not answer in time, the request is accepted with 202 and completed in the background.',
    body: checkRequestBody,
    bodyExample: {
      vat_number: 'FR 40 303 265 045',
      reference: 'order-7',
      trader: { name: 'Exemple S.A.', city: 'Paris' },
    },
    idempotent: true,
    success: {
      201: {
        description: 'The check, whatever its verdict.',
        schema: checkSchema,
        example: checkExample,
        headers: ['Location'],
      },
      202: {
        description: 'The upstream has not answered yet. The request continues in the background.',
        schema: acceptanceSchema,
        example: acceptanceExample,
        headers: ['Location', 'Retry-After'],
      },
    },
    errors: ['INVALID_REQUESTER', 'ACCOUNT_DISABLED', 'TOO_MANY_PENDING', 'QUOTA_EXCEEDED'],
  },
  listChecks: {
    ...checks,
    method: 'get',
    summary: 'List checks, newest first',
    query: checkListQuery,
    success: pageOf(checkSchema, [checkExample]),
  },
  getCheck: {
    ...one,
    method: 'get',
    summary: 'Get a check',
    success: ok('The check.', checkSchema, checkExample),
  },
  getCheckEvidence: {
    ...one,
    method: 'get',
    path: '/v1/checks/{id}/evidence',
    summary: 'Get the hashed bytes of a check',
    description: 'Returns the RFC 8785 form of the check, whose SHA-256 is `response_hash`.',
    success: { 200: { description: 'The hashed bytes.', contentType: 'application/json' } },
  },
  getCheckLink: {
    ...one,
    method: 'get',
    path: '/v1/checks/{id}/link',
    summary: 'Get the public link of a check',
    description:
      'The link opens a page that shows the check to anybody without an account and verifies its hash, its anchor and the chain of anchors in the browser. It always has the same URL, and is not found when PUBLIC_VERIFICATION is off. Whoever has the link can read everything that the hash covers, your `reference`, `input` and `trader` included.',
    success: ok('The link.', checkLinkSchema, {
      url: 'https://vat.example.com/verify/chk_01m7w2q8z5e0a9v6n3r4t7y1bc.qk3V0nJ1y8Zt5wXbR2uGdLe7',
    }),
  },
  getRequest: {
    ...checks,
    method: 'get',
    path: '/v1/requests/{id}',
    summary: 'Get a request that was accepted with 202',
    id: 'request',
    success: ok('The request, with its check once it is completed.', requestSchema, {
      id: acceptanceExample.request_id,
      object: 'request',
      status: 'pending',
      vat_number: 'FR40303265045',
      created_at: '2026-11-20T10:00:00.000Z',
      accepted_at: acceptanceExample.accepted_at,
      give_up_at: acceptanceExample.give_up_at,
      attempts: 6,
      next_attempt_at: '2026-11-20T10:00:50.000Z',
      last_error: 'MS_MAX_CONCURRENT_REQ',
      reason: null,
      check: null,
    }),
  },
} as const satisfies Record<string, Operation>;
