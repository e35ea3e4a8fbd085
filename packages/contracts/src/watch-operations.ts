import { listOperation } from './lists.js';
import type { Operation } from './operation.js';
import { changeSchema, watchAmendmentBody, watchRequestBody, watchSchema } from './watch.js';

const watchExample = {
  watch_id: 'wat_01kafksw1te0a9v6n3r4t7y1bc',
  object: 'watch',
  vat_number: 'FR40303265045',
  label: 'supplier 7',
  frequency: 'weekly',
  status: 'active',
  last_check_id: 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc',
  last_checked_at: '2026-11-20T10:00:03.120Z',
  next_check_at: '2026-11-27T04:17:52.000Z',
  created_at: '2026-11-20T10:00:00.443Z',
};

const watch = (description: string) => ({ description, schema: watchSchema, example: watchExample });

/** The operations of watches. */
export const WATCH_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/watches',
    id: 'createWatch',
    tag: 'Watches',
    summary: 'Watch a VAT number',
    description:
      'The number is asked about soon, and again every day or week. The first answer is the baseline; each later change is listed, and told by the event `watch.changed`.',
    body: watchRequestBody,
    bodyExample: { vat_number: 'FR 40 303 265 045', label: 'supplier 7', frequency: 'weekly' },
    idempotent: true,
    success: { 201: { ...watch('The watch.'), headers: ['Location'] } },
    errors: [
      'TEST_KEY_NOT_ALLOWED',
      'BAD_REQUEST',
      'INVALID_FORMAT',
      'INVALID_REQUESTER',
      'ACCOUNT_DISABLED',
      'IDEMPOTENCY_MISMATCH',
      'IDEMPOTENCY_IN_PROGRESS',
      'FREQUENCY_NOT_ALLOWED',
      'WATCH_EXISTS',
      'WATCH_LIMIT',
    ],
  },
  listOperation({
    path: '/v1/watches',
    id: 'listWatches',
    tag: 'Watches',
    summary: 'List watches, newest first',
    item: watchSchema,
    examples: [watchExample],
    live: true,
  }),
  {
    method: 'get',
    path: '/v1/watches/{id}',
    id: 'getWatch',
    tag: 'Watches',
    summary: 'Get a watch',
    idPrefix: 'wat',
    success: { 200: watch('The watch.') },
    errors: ['TEST_KEY_NOT_ALLOWED', 'NOT_FOUND'],
  },
  {
    method: 'patch',
    path: '/v1/watches/{id}',
    id: 'updateWatch',
    tag: 'Watches',
    summary: 'Label, pause, resume or reschedule a watch',
    idPrefix: 'wat',
    body: watchAmendmentBody,
    bodyExample: { status: 'paused' },
    success: { 200: watch('The watch as it is now.') },
    errors: ['TEST_KEY_NOT_ALLOWED', 'BAD_REQUEST', 'NOT_FOUND', 'FREQUENCY_NOT_ALLOWED', 'WATCH_LIMIT'],
  },
  {
    method: 'delete',
    path: '/v1/watches/{id}',
    id: 'deleteWatch',
    tag: 'Watches',
    summary: 'Stop watching a number',
    description: 'Its changes go with it; its checks stay.',
    idPrefix: 'wat',
    success: { 204: { description: 'It is gone.' } },
    errors: ['TEST_KEY_NOT_ALLOWED', 'NOT_FOUND'],
  },
  listOperation({
    path: '/v1/watches/{id}/changes',
    id: 'listWatchChanges',
    tag: 'Watches',
    summary: 'List the changes of a watched number, newest first',
    idPrefix: 'wat',
    item: changeSchema,
    examples: [
      {
        kind: 'validity',
        before: true,
        after: false,
        check_id: watchExample.last_check_id,
        changed_at: watchExample.last_checked_at,
      },
    ],
    live: true,
  }),
];
