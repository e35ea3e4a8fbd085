import { pageListQuery, pageOf } from './lists.js';
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
  missed_since: null,
  next_check_at: '2026-11-27T04:17:52.000Z',
  created_at: '2026-11-20T10:00:00.443Z',
};

const watch = (description: string) => ({ description, schema: watchSchema, example: watchExample });

const watches = { path: '/v1/watches', tag: 'Watches', live: true } as const;
const one = { ...watches, path: '/v1/watches/{id}', id: 'watch' } as const;

/** The operations of watches. */
export const WATCH_OPERATIONS = {
  createWatch: {
    ...watches,
    method: 'post',
    summary: 'Watch a VAT number',
    description:
      'Checks the number soon and then every day or week. The first check is the baseline. Each later change is listed and sent as the event `watch.changed`.',
    body: watchRequestBody,
    bodyExample: { vat_number: 'FR 40 303 265 045', label: 'supplier 7', frequency: 'weekly' },
    idempotent: true,
    success: { 201: { ...watch('The watch.'), headers: ['Location'] } },
    errors: [
      'INVALID_FORMAT',
      'INVALID_REQUESTER',
      'ACCOUNT_DISABLED',
      'FREQUENCY_NOT_ALLOWED',
      'WATCH_EXISTS',
      'WATCH_LIMIT',
    ],
  },
  listWatches: {
    ...watches,
    method: 'get',
    summary: 'List watches, newest first',
    query: pageListQuery,
    success: pageOf(watchSchema, [watchExample]),
  },
  getWatch: { ...one, method: 'get', summary: 'Get a watch', success: { 200: watch('The watch.') } },
  updateWatch: {
    ...one,
    method: 'patch',
    summary: 'Update a watch',
    body: watchAmendmentBody,
    bodyExample: { status: 'paused' },
    success: { 200: watch('The updated watch.') },
    errors: ['FREQUENCY_NOT_ALLOWED', 'WATCH_LIMIT'],
  },
  deleteWatch: {
    ...one,
    method: 'delete',
    summary: 'Delete a watch',
    description: 'Deletes the watch and its changes. Its checks are not deleted.',
    success: { 204: { description: 'The watch was deleted.' } },
  },
  listWatchChanges: {
    ...one,
    method: 'get',
    path: '/v1/watches/{id}/changes',
    summary: 'List the changes of a watch, newest first',
    query: pageListQuery,
    success: pageOf(changeSchema, [
      {
        kind: 'validity',
        before: true,
        after: false,
        check_id: watchExample.last_check_id,
        changed_at: watchExample.last_checked_at,
      },
    ]),
  },
} as const satisfies Record<string, Operation>;
