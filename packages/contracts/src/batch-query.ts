import { atTheEdge, LINE_STATUSES } from '@vat/domain';
import { z } from 'zod';
import { pageQuery } from './list-query.js';
import { printable } from './text.js';

/** What is sent beside a batch's file, as form fields or in the query. Source: contract part 2 §5. */
export const batchFields = z.strictObject({
  label: printable('label', 100)
    .refine((label) => label === '' || label.trim() !== '', 'label is empty')
    .optional()
    .describe('Your own name for the batch, 1 to 100 printable characters.'),
  // No length is judged here: whatever is no VAT number is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string('requester_vat_number is text')
    .overwrite(atTheEdge)
    .optional()
    .describe('Your own VAT number, for every line that names no requester of its own.'),
});

/** The form of POST /v1/batches, as the description shows it; the file is judged while it is read. */
export const batchForm = batchFields.extend({
  file: z.file().meta({
    openapi: { type: 'string', format: 'binary', description: 'The CSV file, at most 2 MiB and 10 000 rows.' },
  }),
});

/** Query of GET /v1/batches/{id}/lines. */
export const lineListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(LINE_STATUSES, `status is ${LINE_STATUSES.join(', ')}`).optional(),
});

const DELIMITERS = { ',': ',', ';': ';', tab: '\t', '\t': '\t' } as const;

/** Query of GET /v1/batches/{id}/results.csv. */
export const resultsQuery = z.strictObject({
  delimiter: z
    .enum(Object.keys(DELIMITERS) as (keyof typeof DELIMITERS)[], 'delimiter is , or ; or tab')
    .default(',')
    .transform((name) => DELIMITERS[name])
    .meta({ openapi: { type: 'string', enum: [',', ';', 'tab'], default: ',' } }),
  bom: z
    .enum(['true', 'false'], 'bom is true or false')
    .default('false')
    .transform((text) => text === 'true')
    .meta({ openapi: { type: 'boolean', default: false } }),
});
