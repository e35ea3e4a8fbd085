import type { ErrorCode } from '@vat/domain';
import { usageSchema } from './account.js';
import { BATCH_OPERATIONS } from './batch-operations.js';
import { checkRequestBody, checkSchema } from './check.js';
import { EVIDENCE_OPERATIONS } from './evidence-operations.js';
import { checkListQuery, listOperation } from './lists.js';
import type { Operation } from './operation.js';
import { acceptanceSchema, requestSchema } from './request.js';
import { statusSchema } from './status.js';
import { WATCH_OPERATIONS } from './watch-operations.js';
import { WEBHOOK_OPERATIONS } from './webhook-operations.js';

/** Codes of every operation that needs a key. */
export const COMMON_ERRORS: readonly ErrorCode[] = ['UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL'];

const checkExample = {
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
  trader_match: null,
  trader: null,
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

/** Every operation a key can call, in the order people read them. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/checks',
    id: 'createCheck',
    tag: 'Checks',
    summary: 'Check a VAT number',
    description:
      'Waits up to about 20 s for the upstream (about 48 s with confirmation and enrichment): use a client time-out of 60 s. Without an answer in time the request is accepted with 202 and finished in the background.',
    body: checkRequestBody,
    bodyExample: { vat_number: 'FR 40 303 265 045', reference: 'order-7' },
    idempotent: true,
    success: {
      201: {
        description: 'The check, valid or not.',
        schema: checkSchema,
        example: checkExample,
        headers: ['Location'],
      },
      202: {
        description: 'No answer yet; the work goes on.',
        schema: acceptanceSchema,
        example: acceptanceExample,
        headers: ['Location', 'Retry-After'],
      },
    },
    errors: [
      'BAD_REQUEST',
      'INVALID_REQUESTER',
      'ACCOUNT_DISABLED',
      'IDEMPOTENCY_MISMATCH',
      'IDEMPOTENCY_IN_PROGRESS',
      'TOO_MANY_PENDING',
      'QUOTA_EXCEEDED',
    ],
  },
  listOperation({
    path: '/v1/checks',
    id: 'listChecks',
    tag: 'Checks',
    summary: 'List checks, newest first',
    query: checkListQuery,
    item: checkSchema,
    examples: [checkExample],
  }),
  {
    method: 'get',
    path: '/v1/checks/{id}',
    id: 'getCheck',
    tag: 'Checks',
    summary: 'Get a check',
    idPrefix: 'chk',
    success: { 200: { description: 'The check.', schema: checkSchema, example: checkExample } },
    errors: ['NOT_FOUND'],
  },
  {
    method: 'get',
    path: '/v1/checks/{id}/evidence',
    id: 'getCheckEvidence',
    tag: 'Checks',
    summary: 'Get the bytes that were hashed',
    description: 'The RFC 8785 form of the check. Their SHA-256 is `response_hash`.',
    idPrefix: 'chk',
    success: { 200: { description: 'The hashed bytes.', contentType: 'application/json' } },
    errors: ['NOT_FOUND'],
  },
  {
    method: 'get',
    path: '/v1/requests/{id}',
    id: 'getRequest',
    tag: 'Checks',
    summary: 'Get a request that was accepted with 202',
    idPrefix: 'req',
    success: {
      200: {
        description: 'The request, with its check once it is completed.',
        schema: requestSchema,
        example: {
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
        },
      },
    },
    errors: ['NOT_FOUND'],
  },
  ...EVIDENCE_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  {
    method: 'get',
    path: '/v1/usage',
    id: 'getUsage',
    tag: 'Account',
    summary: "Get the month's usage",
    success: {
      200: {
        description: 'Usage of the current UTC month.',
        schema: usageSchema,
        example: {
          period: '2026-11',
          plan: 'business',
          limit: 20_000,
          used: 1_204,
          reserved: 3,
          reset_at: '2026-12-01T00:00:00.000Z',
        },
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/v1/status',
    id: 'getStatus',
    tag: 'Service',
    summary: 'What the service saw of each member state lately',
    success: {
      200: {
        description: 'One entry a member state.',
        schema: statusSchema,
        example: {
          generated_at: '2026-11-20T10:00:00.000Z',
          window_seconds: 900,
          member_states: [
            {
              member_state: 'DE',
              health: 'degraded',
              asks: 220,
              answered: 0.71,
              saturated: 0.27,
              unavailable: 0.02,
              p50_ms: 410,
              p95_ms: 2_300,
              queue_depth: 4,
              oldest_wait_ms: 1_850,
            },
          ],
        },
      },
    },
    errors: [],
  },
];
